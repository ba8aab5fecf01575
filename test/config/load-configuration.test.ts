// Loading: the search for the file, interpolation, defaults, and the configuration without a file.
import assert from "node:assert/strict";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { isPair, isScalar, isSeq, parse, parseDocument, visit } from "yaml";
import { generateKey } from "../../src/auth/key-format.ts";
import { formatFault } from "../../src/config/fault.ts";
import { loadConfiguration, type LoadOptions } from "../../src/config/load-configuration.ts";
import { configSchemaJson } from "../../src/config/json-schema.ts";
import { printableConfiguration } from "../../src/config/print-configuration.ts";
import { limitsReport } from "../../src/contract/account.ts";
import { configurationFile } from "../../src/config/schema/file.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const directory = mkdtempSync(join(tmpdir(), "patchbay-config-"));
after(() => rmSync(directory, { recursive: true }));

function load(options: Partial<LoadOptions> = {}) {
  const loaded = loadConfiguration({ file: null, env: {}, cwd: directory, ...options });
  assert.ok(loaded.ok, loaded.ok ? "" : loaded.faults.map(formatFault).join("\n"));
  return loaded;
}

function loadText(text: string, env: LoadOptions["env"] = {}, more: Partial<LoadOptions> = {}) {
  const file = join(mkdtempSync(join(directory, "case-")), "settings.yaml");
  writeFileSync(file, text);
  return load({ file, env, ...more });
}

const EXAMPLE_ENV = {
  DEEPGRAM_API_KEY: "deepgram-secret-0001",
  OPENAI_API_KEY: "openai-secret-0002",
  PATCHBAY_OPERATOR_KEY: "operator-secret-of-24-characters-0003",
  NOTES_KEY: "notes-secret-of-24-characters-0004",
  ACME_ADMIN_KEY: "admin-secret-of-24-characters-0005",
};

test("configuration.search-order: the file is that of --config, then of PATCHBAY_CONFIG, then ./patchbay.yaml, then there is none", () => {
  const cwd = mkdtempSync(join(directory, "search-"));
  const write = (name: string, port: number) => writeFileSync(join(cwd, name), `server: { port: ${port} }`);
  const port = (options: Partial<LoadOptions>) => load({ cwd, ...options }).configuration.server.port;
  assert.equal(load({ cwd }).file, null);
  write("patchbay.yaml", 1001);
  write("env.yaml", 1002);
  write("flag.yaml", 1003);
  assert.equal(port({}), 1001);
  assert.equal(port({ env: { PATCHBAY_CONFIG: "env.yaml" } }), 1002);
  assert.equal(port({ env: { PATCHBAY_CONFIG: "env.yaml" }, file: "flag.yaml" }), 1003);
});

test("configuration.named-file-required: a named file that is missing is a fault, never the default configuration", () => {
  const loaded = loadConfiguration({ file: "nope.yaml", env: {}, cwd: directory });
  assert.deepEqual(loaded, {
    ok: false,
    faults: [{ file: "nope.yaml", line: 1, column: 1, path: "", message: "the file does not exist" }],
  });
});

test("configuration.example-loads: the annotated example has no faults if exactly the variables that it names are set", () => {
  const loaded = load({ file: join(ROOT, "patchbay.example.yaml"), env: EXAMPLE_ENV, nowMs: Date.parse("2026-11-26") });
  assert.deepEqual(loaded.warnings, []);
  const text = readFileSync(join(ROOT, "patchbay.example.yaml"), "utf8");
  for (const name of Object.keys(EXAMPLE_ENV)) {
    assert.match(text.split("server:")[0] ?? "", new RegExp(`\\b${name}\\b`), `${name} is named at the top`);
    const without = loadConfiguration({
      file: join(ROOT, "patchbay.example.yaml"),
      env: { ...EXAMPLE_ENV, [name]: undefined },
      cwd: ROOT,
    });
    assert.ok(
      !without.ok && without.faults.length === 1 && without.faults[0]?.message.includes(name),
      `${name} is required`,
    );
  }
});

test("configuration.data-dir-relative: data_dir is relative to the file; without a file to the working directory", () => {
  const cwd = mkdtempSync(join(directory, "data-"));
  mkdirSync(join(cwd, "etc"));
  writeFileSync(join(cwd, "etc", "p.yaml"), "storage: { data_dir: ./var }");
  assert.equal(load({ cwd, file: "etc/p.yaml" }).configuration.storage.dataDir, join(cwd, "etc", "var"));
  assert.equal(load({ cwd }).configuration.storage.dataDir, join(cwd, "data"));
});

test("configuration.data-dir-relative: with a file from a pipe data_dir is relative to the working directory", () => {
  const cwd = mkdtempSync(join(directory, "handed-"));
  writeFileSync(join(cwd, "p.yaml"), "storage: { data_dir: ./var }");
  const handed = openSync(join(cwd, "p.yaml"), "r");
  try {
    assert.equal(load({ cwd, file: `/dev/fd/${handed}` }).configuration.storage.dataDir, join(cwd, "var"));
  } finally {
    closeSync(handed);
  }
});

test("configuration.interpolation, configuration.interpolation-once, configuration.empty-variable: variables, defaults for unset and empty ones, files, escapes, and no second reading", () => {
  const file = join(mkdtempSync(join(directory, "inter-")), "p.yaml");
  writeFileSync(join(file, "..", "key.txt"), "from-a-file\n");
  writeFileSync(
    file,
    [
      "connections:",
      '  - { id: a, kind: deepgram, api_key: "${env:PLAIN}" }',
      '  - { id: b, kind: deepgram, api_key: "${env:EMPTY:-fallback}" }',
      '  - { id: c, kind: deepgram, api_key: "${file:key.txt}" }',
      '  - { id: d, kind: deepgram, api_key: "a$${env:PLAIN}b${env:PLAIN}" }',
      '  - { id: e, kind: deepgram, api_key: "${env:NESTED}" }',
      '  - { id: f, kind: deepgram, api_key: x, timeout_seconds: "${env:SECONDS}" }',
      "  - id: g",
      "    kind: deepgram",
      "    api_key: ${env:DIGITS}",
    ].join("\n"),
  );
  const env = { PLAIN: "plain", EMPTY: "", NESTED: "${env:PLAIN}", SECONDS: "30", DIGITS: "123456" };
  const { connections } = load({ file, env }).configuration;
  assert.deepEqual(
    connections.map((connection) => connection.apiKey),
    ["plain", "fallback", "from-a-file", "a${env:PLAIN}bplain", "${env:PLAIN}", "x", "123456"],
  );
  assert.equal(connections[5]?.timeoutSeconds, 30);
});

test("configuration.file-value: a file that is not text is a fault", () => {
  const file = join(mkdtempSync(join(directory, "bytes-")), "p.yaml");
  writeFileSync(join(file, "..", "key.bin"), Buffer.of(0x61, 0xff));
  writeFileSync(file, 'connections:\n  - { id: a, kind: deepgram, api_key: "${file:key.bin}" }\n');
  const loaded = loadConfiguration({ file, env: {}, cwd: directory });
  assert.deepEqual(loaded.ok ? [] : loaded.faults.map(({ message }) => message), [
    "the file key.bin cannot be read (not UTF-8 text)",
  ]);
});

test("configuration.file-value: an empty file is one fault, and never counts as a secret that is not set", () => {
  const file = join(mkdtempSync(join(directory, "empty-")), "p.yaml");
  writeFileSync(join(file, "..", "pepper"), "\n");
  writeFileSync(join(file, "..", "key"), " \n\n");
  writeFileSync(
    file,
    [
      'storage: { database_url: "postgres://patchbay@db/patchbay" }',
      'secrets: { key_pepper: "${file:pepper}", encryption_keys: ["${file:key}"] }',
    ].join("\n"),
  );
  const loaded = loadConfiguration({ file, env: {}, cwd: directory });
  assert.deepEqual(loaded.ok ? [] : loaded.faults.map(({ path, message }) => `${path}: ${message}`), [
    "secrets.key_pepper: the file pepper is empty",
    "secrets.encryption_keys[0]: the file key is empty",
  ]);
});

test("configuration.key-list: several encryption keys may be in one variable or one file, whatever separates them", () => {
  const text = 'secrets: { encryption_keys: ["${env:RING}", "${env:OLDEST:-}"] }';
  for (const ring of ["new,old", "new, old", "new\nold\n", "new\r\nold\r\n", " new old"])
    assert.deepEqual(loadText(text, { RING: ring }).configuration.secrets.encryptionKeys, ["new", "old"]);
  // As `NEW,OLD` made of two variables that are not set: none of them is a key, and what is given is not "none".
  assert.deepEqual(loadText(text, { RING: "," }).configuration.secrets.encryptionKeys, [","]);
  const env = { PATCHBAY_ENCRYPTION_KEY: "new,old" };
  assert.deepEqual(load({ env }).configuration.secrets.encryptionKeys, ["new", "old"]);
});

test("configuration.limits: every figure of /v1/melimits is a setting with the documented default, and may be overridden", () => {
  const { limits } = load().configuration;
  const known = new Set(Object.keys(limits));
  const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  for (const name of Object.keys(limitsReport.shape)) {
    if (!["object", "quotas", "budgets"].includes(name)) assert.ok(known.has(camel(name)), `${name} is a setting`);
  }
  assert.deepEqual(
    [
      limits.maxAudioBytes,
      limits.maxAudioUrlBytes,
      limits.sttJobResultTtlSeconds,
      limits.jobDeadlineSeconds,
      limits.workerGraceSeconds,
    ],
    [26_214_400, 25_000_000, 259_200, 21_600, 900],
  );
  assert.equal(loadText("limits: { max_audio_bytes: 5 }").configuration.limits.maxAudioBytes, 5);
});

test("configuration.target-settings: a target's settings are divided into common ones and those of a profile", () => {
  const target = "{ connection: dg, model: nova-3, settings: { mip_opt_out: true, deep: { mip_opt_out: false } } }";
  const { routes } = loadText(
    `connections: [{ id: dg, kind: deepgram, api_key: k }]\nroutes: [{ id: r, targets: [${target}] }]`,
  ).configuration;
  assert.deepEqual(routes[0]?.targets[0]?.settings, { mip_opt_out: true });
  assert.deepEqual(routes[0]?.targets[0]?.profileSettings, { deep: { mip_opt_out: false } });
});

/** Null: it loads. */
function faultsIn(text: object): readonly string[] | null {
  const file = join(mkdtempSync(join(directory, "faults-")), "p.yaml");
  writeFileSync(file, JSON.stringify(text));
  const loaded = loadConfiguration({ file, env: {}, cwd: directory });
  return loaded.ok ? null : loaded.faults.map(({ path, message }) => `${path} ${message}`);
}

test("configuration.audio-domains: the file's domains are checked as those of PUT: in any case, each once, and only then 20 at most", () => {
  const hosts = Array.from({ length: 20 }, (_, at) => `h${at}.example.com`);
  const withDomains = (domains: readonly string[]) => ({
    audio_url: { global_domains: domains },
    workspaces: [{ id: "acme", audio_url_domains: domains }],
  });
  const repeated = ["H0.Example.com", ...hosts, "h19.EXAMPLE.com"];
  const { audioUrl, workspaces } = loadText(JSON.stringify(withDomains(repeated))).configuration;
  assert.deepEqual([audioUrl.globalDomains, workspaces[0]?.audioUrlDomains], [hosts, hosts]);
  assert.match(
    faultsIn(withDomains([...repeated, "h20.example.com"]))?.join() ?? "",
    /^workspaces\[0\]\.audio_url_domains /u,
  );
  // The sign for kelvin, in lower case a plain k.
  assert.equal(faultsIn(withDomains(["\u212aeys.example.com"]))?.length, 2);
});

test("configuration.key-secrets: the prefix of a key fits the role of its place in the file", () => {
  const secrets = {
    live: generateKey("live"),
    test: generateKey("test"),
    admin: generateKey("admin"),
    root: generateKey("root"),
  };
  for (const [place, taken] of [
    ["operator_keys[0].secret", ["root"]],
    ["workspaces[0].admin_keys[0].secret", ["admin"]],
    ["workspaces[0].apps[0].keys[0].secret", ["live", "test"]],
  ] as const)
    for (const [kind, secret] of Object.entries(secrets)) {
      const keys = [{ id: "key", secret }];
      const file = {
        connections: [{ id: "sb", kind: "sandbox" }],
        routes: [{ id: "r", targets: [{ connection: "sb", model: "simulated-speech" }] }],
        operator_keys: place.startsWith("operator") ? keys : [],
        workspaces: [
          {
            id: "acme",
            apps: [{ id: "notes", route: "r", keys: place.includes("apps") ? keys : [] }],
            admin_keys: place.includes("admin_keys") ? keys : [],
          },
        ],
      };
      const prefixes = taken.map((each) => `svc_${each}_`).join(" or ");
      const fault = `${place} is of another role: keys here begin with ${prefixes}`;
      assert.deepEqual(faultsIn(file), taken.some((each) => each === kind) ? null : [fault], `${kind} at ${place}`);
    }
});

test("configuration.warnings: an audio override to a route without audio is a warning with its place, not a fault", () => {
  const text = [
    "connections: [{ id: oa, kind: openai, api_key: k }]",
    "routes: [{ id: chat, targets: [{ connection: oa, model: gpt-6-luna }] }]",
    "workspaces: [{ id: w, apps: [{ id: a, route: chat, audio_input_override: chat }] }]",
  ].join("\n");
  const { warnings } = loadText(text);
  assert.deepEqual(
    warnings.map(({ line, path }) => ({ line, path })),
    [{ line: 3, path: "workspaces[0].apps[0].audio_input_override" }],
  );
});

test("configuration.ending-models: a target whose model ends in fewer than 30 days is a warning with day, source and replacements, in shared routes and those of a workspace", () => {
  const route =
    "routes: [{ id: ROUTE, targets: [{ connection: oa, model: whisper-1 }, { connection: oa, model: gpt-transcribe }] }]";
  const text = [
    "connections: [{ id: oa, kind: openai, api_key: k }]",
    route.replace("ROUTE", "shared"),
    `workspaces: [{ id: w, ${route.replace("ROUTE", "own")} }]`,
  ].join("\n");
  const warningsAt = (time: string) => loadText(text, {}, { nowMs: Date.parse(time) }).warnings;
  assert.deepEqual(warningsAt("2027-01-27T23:59:59Z"), []);
  const found = warningsAt("2027-01-28T00:00:00Z");
  assert.deepEqual(
    found.map(({ path }) => path),
    ["routes[0].targets[0].model", "workspaces[0].routes[0].targets[0].model"],
  );
  assert.match(
    found[0]?.message ?? "",
    /^`oa\/whisper-1` ends on 2027-02-26 \(source: .*openai.*\); replaced by gpt-transcribe \(without timestamps\.word, timestamps\.segment, translation\)$/u,
  );
  assert.match(warningsAt("2027-02-26T00:00:00Z")[0]?.message ?? "", /`oa\/whisper-1` ended on 2027-02-26/u);
});

test("configuration.target-settings: a target's settings are those of its task: of chat, of audio, of both for a model that does both", () => {
  const text = (kind: string, model: string, settings: string): string =>
    [
      `connections: [{ id: c, kind: ${kind}, api_key: k }]`,
      `routes: [{ id: r, targets: [{ connection: c, model: ${model}, settings: { ${settings} } }] }]`,
    ].join("\n");
  for (const [kind, model, settings] of [
    ["openai", "gpt-5", "reasoning_effort: low, fast: { reasoning_effort: minimal }"],
    ["anthropic", "claude-opus-5", "effort: max"],
    ["gemini", "gemini-2.5-flash", "thinking_budget: 0"],
    ["sandbox", "simulated-chat", "anything: 1"],
  ] as const) {
    assert.equal(loadText(text(kind, model, settings)).configuration.routes.length, 1);
  }
  for (const [kind, model, settings] of [
    ["openai", "gpt-5", "reasoning_effort: a-lot"],
    ["openai", "whisper-1", "reasoning_effort: low"],
    ["anthropic", "claude-opus-5", "temperature: 1"],
    ["gemini", "gemini-2.5-flash", "thinking: 0"],
  ] as const) {
    const file = join(mkdtempSync(join(directory, "case-")), "settings.yaml");
    writeFileSync(file, text(kind, model, settings));
    const loaded = loadConfiguration({ file, env: {}, cwd: directory });
    assert.ok(!loaded.ok, `${kind} ${settings}`);
    assert.match(loaded.faults[0]?.path ?? "", /^routes\[0\]\.targets\[0\]\.settings/);
  }
});

test("configuration.models: chat models of anthropic and gemini can be routed, so that a text-only route can be configured", () => {
  const text = [
    "connections: [{ id: an, kind: anthropic, api_key: k }, { id: ge, kind: gemini, api_key: k }]",
    "routes: [{ id: chat, targets: [{ connection: an, model: claude-sonnet-4-5 }, { connection: ge, model: gemini-2.5-pro }] }]",
  ].join("\n");
  assert.equal(loadText(text).configuration.routes[0]?.targets.length, 2);
});

test("configuration.own-connections: a workspace's connection with the id of a shared one is no duplicate, and its routes may name both", () => {
  const text = [
    "connections: [{ id: dg, kind: deepgram, api_key: k }, { id: oa, kind: openai, api_key: k }]",
    "workspaces:",
    "  - id: w",
    "    connections: [{ id: dg, kind: deepgram, api_key: own }]",
    "    routes: [{ id: r, targets: [{ connection: dg, model: nova-3 }, { connection: oa, model: whisper-1 }] }]",
    "    apps: [{ id: a, route: r }]",
  ].join("\n");
  assert.equal(loadText(text).configuration.workspaces[0]?.connections[0]?.apiKey, "own");
});

test("configuration.command-line-wins: host and port of the command line override the file, and a public_url that is not set follows them", () => {
  const server = loadText("server: { host: 0.0.0.0, port: 1 }", {}, { overrides: { port: 9000 } }).configuration.server;
  assert.deepEqual([server.host, server.port, server.publicUrl], ["0.0.0.0", 9000, "http://127.0.0.1:9000"]);
});

test("configuration.port-clash: two listeners on one port are a fault before anything listens, also by the default and by the command line", () => {
  const file = join(mkdtempSync(join(directory, "ports-")), "p.yaml");
  const faultsOf = (server: string, overrides: LoadOptions["overrides"] = {}) => {
    writeFileSync(file, `server: ${server}`);
    const loaded = loadConfiguration({ file, env: {}, cwd: directory, overrides });
    return loaded.ok ? [] : loaded.faults.map(({ path }) => path);
  };
  const clash = ["server.admin.port"];
  assert.deepEqual(faultsOf("{ port: 9000, admin: { port: 9000 } }"), clash);
  assert.deepEqual(faultsOf("{ host: 0.0.0.0, port: 8081 }"), clash);
  assert.deepEqual(faultsOf("{}", { port: 8081 }), clash);
  assert.equal(loadConfiguration({ file: null, env: {}, cwd: directory, overrides: { port: 8081 } }).ok, false);
  assert.deepEqual(faultsOf("{ port: 8081 }", { port: 9000 }), []);
  assert.deepEqual(faultsOf("{ port: 8081, admin: null }"), []);
  assert.deepEqual(faultsOf("{ port: 0, admin: { port: 0 } }"), []);
  assert.deepEqual(faultsOf("{ host: 127.0.0.2, port: 8081 }"), []);
});

test("configuration.default-sandbox: without a file and without provider keys requests go to the sandbox, and a note says so", () => {
  const { configuration, file } = load();
  assert.equal(file, null);
  assert.deepEqual(
    configuration.connections.map((connection) => connection.kind),
    ["sandbox"],
  );
  assert.match(
    configuration.notes.join(" "),
    /No speech provider.*sandbox.*simulated text.*No chat provider.*sandbox.*simulated text/,
  );
  const app = configuration.workspaces[0]?.apps[0];
  assert.deepEqual([app?.route, app?.audioInputOverride], ["chat", "speech"]);
  // One that can do everything but translate, one to fall back to, and one that translates: all is there to be tried.
  const speech = configuration.routes.find(({ id }) => id === "speech");
  assert.deepEqual(
    speech?.targets.map(({ model }) => model),
    ["simulated-speech", "openai/gpt-4o-transcribe-diarize", "openai/whisper-1"],
  );
});

test("configuration.default-routes: without a file the app is routed to the keys in the environment, and without a key for chat there is no chat route", () => {
  const env = {
    DEEPGRAM_API_KEY: "d",
    ASSEMBLYAI_API_KEY: "a",
    ELEVENLABS_API_KEY: "e",
    OPENAI_API_KEY: "o",
    PATCHBAY_LOCAL_STT_URL: "http://127.0.0.1:9/v1",
    ANTHROPIC_API_KEY: "n",
    GEMINI_API_KEY: " ",
  };
  const loaded = loadConfiguration({ file: null, env, cwd: directory });
  assert.ok(loaded.ok);
  const { routes, connections, notes } = loaded.configuration;
  assert.deepEqual(
    connections.map((connection) => connection.kind),
    ["deepgram", "assemblyai", "elevenlabs", "openai", "anthropic", "openai-compatible"],
  );
  assert.deepEqual(
    routes.map((route) => [route.id, route.targets.map((target) => target.model)]),
    [
      [
        "speech",
        [
          "nova-3",
          "assemblyai-stt-3-7",
          "universal-2",
          "scribe_v2",
          "gpt-transcribe",
          "gpt-4o-transcribe-diarize",
          "whisper-1",
          "whisper-1",
        ],
      ],
      ["chat", ["gpt-6-luna", "claude-haiku-5-5"]],
    ],
  );
  assert.deepEqual(notes, []);
  const deaf = loadConfiguration({ file: null, env: { DEEPGRAM_API_KEY: "d" }, cwd: directory });
  assert.ok(deaf.ok);
  assert.deepEqual(
    deaf.configuration.routes.map((route) => route.id),
    ["speech"],
  );
});

test("configuration.faults-hide-values: a fault of the configuration without a file names the variable and not its value", () => {
  const loaded = loadConfiguration({
    file: null,
    env: { PATCHBAY_LOCAL_STT_URL: "hush", DATABASE_URL: "mysql://hush@h/d" },
    cwd: directory,
  });
  assert.ok(!loaded.ok);
  const printed = loaded.faults.map(formatFault);
  assert.deepEqual(loaded.faults.map((fault) => fault.path).toSorted(), [
    "DATABASE_URL",
    "PATCHBAY_ENCRYPTION_KEY",
    "PATCHBAY_KEY_PEPPER",
    "PATCHBAY_LOCAL_STT_URL",
  ]);
  assert.doesNotMatch(printed.join("\n"), /hush/);
});

test("configuration.print-masked: the printed configuration contains no secret, and is a file that loads to the same configuration", () => {
  const file = join(ROOT, "patchbay.example.yaml");
  const env = {
    ...EXAMPLE_ENV,
    DATABASE_URL: "postgres://me:hush-db@db/x",
    PATCHBAY_KEY_PEPPER: "pepper-secret-0006",
    PATCHBAY_ENCRYPTION_KEY: "encryption-secret-0007",
  };
  const printable = printableConfiguration(load({ file, env }).configuration);
  const printed = JSON.stringify(printable);
  assert.doesNotMatch(printed, /secret-0|secret-of|hush/);
  assert.match(printed, /\*\*\*\*0001/);
  const settings = parse(readFileSync(file, "utf8")) as { limits: object };
  assert.deepEqual(
    { ...(printable as { limits: object }).limits, ...settings.limits },
    (printable as { limits: object }).limits,
  );
  assert.ok(configurationFile.safeParse(withLongSecrets(printable)).success);
});

test("configuration.json-schema: the JSON Schema has every setting of the example, and allows each value to be interpolated", () => {
  const schema = configSchemaJson();
  const document = parseDocument(readFileSync(join(ROOT, "patchbay.example.yaml"), "utf8"));
  let keys = 0;
  visit(document, { Pair: () => void (keys += 1) });
  assert.ok(keys > 80);
  for (const name of Object.keys(document.toJS() as object)) assert.ok(schema.properties?.[name] !== undefined, name);
  const port = schema.properties?.["server"]?.properties?.["port"];
  assert.deepEqual(
    port?.anyOf?.map((option) => option.type),
    ["integer", "string"],
  );
  const objects = schema.properties?.["storage"]?.properties?.["objects"];
  const pathStyle = objects?.anyOf?.flatMap(({ properties }) => properties?.["force_path_style"] ?? []);
  assert.deepEqual(
    pathStyle?.map(({ anyOf }) => anyOf?.map((option) => option.type)),
    [["boolean", "string"]],
    "of one kind of several, too",
  );
});

/** A masked key is shorter than keys may be. */
function withLongSecrets(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replaceAll("****", "*".repeat(24))
      .replace(/"(database|migrate)_url":"[^"]*"/g, '"$1_url":null'),
  );
}

test("configuration.never-throws: whatever replaces any value of the example, the result is faults with a place, never an exception", () => {
  const source = parseDocument(readFileSync(join(ROOT, "patchbay.example.yaml"), "utf8"));
  const places: (readonly unknown[])[] = [];
  visit(source, { Node: (key, _node, ancestors) => void (key === "key" || places.push(placeOf(ancestors, key))) });
  const file = join(mkdtempSync(join(directory, "junk-")), "p.yaml");
  let faulty = 0;
  let judged = 0;
  for (const place of places.filter((path) => path.length > 0)) {
    for (const junk of [null, -1, "?", true, [], [null], {}, { kind: {}, id: [] }]) {
      const changed = source.clone();
      changed.setIn(place, changed.createNode(junk));
      // A new file each time: one that is cut and written again is brought to the disk at once by some file systems.
      rmSync(file, { force: true });
      writeFileSync(file, changed.toString());
      const loaded = loadConfiguration({ file, env: EXAMPLE_ENV, cwd: directory });
      judged += 1;
      if (loaded.ok) continue;
      faulty += 1;
      assert.ok(loaded.faults.length > 0);
      for (const fault of loaded.faults) {
        assert.ok(fault.line >= 1 && fault.column >= 1 && fault.message !== "", formatFault(fault));
        assert.doesNotMatch(formatFault(fault), /\[object|undefined|secret-0|of-24/);
      }
    }
  }
  assert.ok(faulty > judged / 2, `${faulty} of ${judged}`);
});

/** Keys and indexes that lead to a visited node. */
function placeOf(ancestors: readonly unknown[], key: unknown): readonly unknown[] {
  const path: unknown[] = [];
  ancestors.forEach((ancestor, depth) => {
    const next = ancestors[depth + 1];
    if (isPair(ancestor)) path.push(isScalar(ancestor.key) ? ancestor.key.value : null);
    else if (isSeq(ancestor)) path.push(next === undefined ? key : ancestor.items.indexOf(next));
  });
  return path;
}

test("configuration.database-variables: DATABASE_URL and PATCHBAY_MIGRATE_URL apply whenever the file does not set what they stand for", () => {
  const env = {
    DATABASE_URL: "postgres://u:p@db/one",
    PATCHBAY_MIGRATE_URL: "postgres://o:p@db/one",
    PATCHBAY_KEY_PEPPER: "p".repeat(40),
    PATCHBAY_ENCRYPTION_KEY: "k".repeat(43),
  };
  const storageOf = (text: string) => loadText(text, env).configuration.storage;
  for (const text of [
    "server: { port: 1 }",
    "storage: { data_dir: ./d }",
    'storage: { database_url: "" }',
    'storage: { database_url: "${env:OTHER:-}" }',
    "storage:",
    "",
  ])
    assert.deepEqual(
      [storageOf(text).databaseUrl, storageOf(text).migrateUrl],
      [env.DATABASE_URL, env.PATCHBAY_MIGRATE_URL],
      text,
    );
  const own = storageOf("storage: { database_url: postgres://u:p@db/two, migrate_url: postgres://o:p@db/two }");
  assert.deepEqual([own.databaseUrl, own.migrateUrl], ["postgres://u:p@db/two", "postgres://o:p@db/two"]);
  assert.equal(loadText("server: { port: 1 }", { DATABASE_URL: "" }).configuration.storage.databaseUrl, null);
});

test("configuration.secret-variables: with a server database the two secrets of the environment apply; an embedded one keeps those that it created", () => {
  const secrets = { PATCHBAY_KEY_PEPPER: "p".repeat(40), PATCHBAY_ENCRYPTION_KEY: "k".repeat(43) };
  const server = { ...secrets, DATABASE_URL: "postgres://u:p@db/one" };
  const read = (text: string, env: LoadOptions["env"]) => {
    const { keyPepper, encryptionKeys } = loadText(text, env).configuration.secrets;
    return [keyPepper, ...encryptionKeys];
  };
  const both = [secrets.PATCHBAY_KEY_PEPPER, secrets.PATCHBAY_ENCRYPTION_KEY];
  assert.deepEqual(read("server: { port: 1 }", server), both);
  assert.deepEqual(read('secrets: { encryption_keys: ["${env:NONE:-}"] }', server), both);
  assert.deepEqual(read("server: { port: 1 }", secrets), [null]);
  assert.deepEqual(read("secrets: { key_pepper: of-the-file }", server), [
    "of-the-file",
    secrets.PATCHBAY_ENCRYPTION_KEY,
  ]);
});

test("configuration.faults-hide-values: a fault of a variable's value names the variable, and not its value", () => {
  const file = join(mkdtempSync(join(directory, "case-")), "settings.yaml");
  writeFileSync(file, "server: { port: 1 }");
  const loaded = loadConfiguration({ file, env: { DATABASE_URL: "mysql://hush-hush@db" }, cwd: directory });
  assert.ok(!loaded.ok);
  assert.match(
    loaded.faults.map(formatFault).join("\n"),
    /^environment:1:1 DATABASE_URL: must be a postgres:\/\/ URL/u,
  );
  assert.doesNotMatch(JSON.stringify(loaded), /hush/u);
});
