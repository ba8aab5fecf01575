// The code that the playground shows, run by a shell unchanged: what arrives is the request that the page made, whatever was typed.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type CodeAudio, codeOf, type CodeRequest } from "../../src/playground/code.ts";
import { type Entries, fieldsOf, type OptionField } from "../../src/playground/options.ts";

const ROOT = join(import.meta.dirname, "../..");
const SAMPLE = "bytes of the sample";
const FILE = "bytes of a file";
const NASTY = 'it\'s "x"; $(touch made) `touch made` @a <b ;type=y\\ \u{1f399}';
const FIELDS: readonly OptionField[] = [
  { name: "language", kind: "text", preset: "" },
  { name: "diarization", kind: "boolean", preset: "" },
  { name: "speaker_count_hint", kind: "number", preset: "" },
  { name: "keyterms", kind: "list", preset: "" },
  { name: "redaction", kind: "list", preset: "" },
  { name: "prompt", kind: "text", preset: "" },
  { name: "to_language", kind: "text", preset: "" },
  { name: "dry_run", kind: "boolean", preset: "" },
];
const ENTRIES: Entries = [
  ["diarization", "true"],
  ["speaker_count_hint", "2"],
  ["keyterms", "Patchbay"],
  ["keyterms", NASTY],
  ["redaction", "pii"],
  ["redaction", "phi"],
  ["prompt", `@${NASTY}`],
];

interface Arrived {
  readonly path: string;
  readonly key: string;
  readonly file: string | null;
  /** As JSON has them. */
  readonly fields: Readonly<Record<string, unknown>>;
}

let arrived: Arrived[] = [];
let folder: string;
let origin: string;
const server = createServer((request, response) => {
  if (request.method === "GET") response.end(SAMPLE);
  else void note(request).then(() => response.setHeader("content-type", "application/json").end('{"content":"said"}'));
});

async function note(request: IncomingMessage): Promise<void> {
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  const body = new Response(new Uint8Array(await buffer(request)), { headers });
  const isForm = headers["content-type"].startsWith("multipart/");
  const [file, fields] = isForm ? await readForm(await body.formData()) : readDocument(await body.json());
  arrived.push({ path: request.url ?? "", key: request.headers.authorization ?? "", file, fields });
}

async function readForm(form: FormData): Promise<readonly [string | null, Record<string, unknown>]> {
  const file = form.get("file");
  const entries = [...form].flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []));
  const others = Object.fromEntries(entries.filter(([name]) => name.startsWith("audio.")));
  return [file instanceof Blob ? await file.text() : null, { ...fieldsOf(listed(entries), FIELDS), ...others }];
}

/** A list may come as one JSON array. */
function listed(entries: Entries): Entries {
  return entries.flatMap(([name, value]) =>
    value.startsWith("[")
      ? (JSON.parse(value) as string[]).map((each) => [name, each] as const)
      : [[name, value] as const],
  );
}

function readDocument(document: unknown): readonly [null, Record<string, unknown>] {
  const { audio, ...fields } = document as { readonly audio: { readonly url: string } };
  return [null, { ...fields, "audio.url": audio.url }];
}

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  origin = `http://127.0.0.1:${address.port}`;
  folder = await mkdtemp(join(tmpdir(), "patchbay-code-"));
  await writeFile(join(folder, "my call; 1.mp3"), FILE);
  // The published entry, as a checkout has it.
  const published = join(folder, "node_modules/patchbay-gateway");
  await mkdir(published, { recursive: true });
  await writeFile(join(published, "package.json"), '{"name":"patchbay-gateway","exports":{"./client":"./client.mjs"}}');
  const client = pathToFileURL(join(ROOT, "src/client/client.ts")).href;
  await writeFile(join(published, "client.mjs"), `export * from ${JSON.stringify(client)};\n`);
  const command = join(folder, "patchbay");
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "src/main.ts")}" "$@"\n`);
  await chmod(command, 0o755);
});
after(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

const shell = (code: string): Promise<Arrived> => runs("sh", ["-c", code], code);

async function typeScript(code: string): Promise<Arrived> {
  await writeFile(join(folder, "call.mts"), code);
  return runs(process.execPath, ["call.mts"], code);
}

async function runs(command: string, args: readonly string[], code: string): Promise<Arrived> {
  arrived = [];
  const child = spawn(command, args, {
    cwd: folder,
    env: {
      PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}`,
      PATCHBAY_API_KEY: "svc_live_mine",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  assert.deepEqual(await once(child, "close"), [0, null], code);
  const [only, ...others] = arrived;
  assert.ok(only !== undefined && others.length === 0, code);
  return only;
}

const AUDIO: readonly (readonly [what: string, audio: CodeAudio])[] = [
  ["the sample", { kind: "sample", name: "dialogue.mp3" }],
  ["a file", { kind: "file", name: "my call; 1.mp3" }],
  ["an address", { kind: "url", url: "https://example.com/a%20b.mp3?x=1&y='2'" }],
];
const sampleBytes = await readFile(join(ROOT, "sandbox/samples/dialogue.mp3"), "utf8");
const WITHOUT_SHELL = ["sh", "curl"].every((tool) => spawnSync(tool, ["--version"]).error === undefined)
  ? false
  : "no shell or no curl";

for (const [what, audio] of AUDIO) {
  const request = (entries: Entries): CodeRequest => ({
    origin,
    patchbay: "patchbay",
    audio,
    entries,
    fields: FIELDS,
  });
  const expected = (entries: Entries) => ({
    ...fieldsOf(entries, FIELDS),
    ...(audio.kind === "url" ? { "audio.url": audio.url } : {}),
  });

  test(`playground.code: ${what} by curl is exactly the request of the page`, { skip: WITHOUT_SHELL }, async () => {
    const { path, key, file, fields } = await shell(codeOf("curl", request(ENTRIES)));
    assert.deepEqual([path, key], ["/v1/transcription", "Bearer svc_live_mine"]);
    assert.equal(file, { sample: SAMPLE, file: FILE, url: null }[audio.kind]);
    assert.deepEqual(fields, expected(ENTRIES));
  });

  test(`playground.code: ${what} by the command line is exactly the request of the page`, {
    skip: WITHOUT_SHELL,
  }, async () => {
    const { path, key, file, fields } = await shell(codeOf("CLI", request(ENTRIES)));
    assert.deepEqual([path, key], ["/v1/transcription", "Bearer svc_live_mine"]);
    // The one that the package holds.
    assert.equal(file, { sample: sampleBytes, file: FILE, url: null }[audio.kind]);
    assert.deepEqual(fields, expected(ENTRIES));
  });

  test(`playground.code: ${what} by TypeScript is exactly the request of the page`, async () => {
    const { path, key, file, fields } = await typeScript(codeOf("TypeScript", request(ENTRIES)));
    assert.deepEqual([path, key], ["/v1/transcription", "Bearer svc_live_mine"]);
    assert.equal(file, { sample: SAMPLE, file: FILE, url: null }[audio.kind]);
    assert.deepEqual(fields, expected(ENTRIES));
  });
}

test("playground.code: a translation and a dry run have their form in each language", {
  skip: WITHOUT_SHELL,
}, async () => {
  const entries: Entries = [
    ["prompt", "true"],
    ["to_language", "de"],
    ["dry_run", "true"],
  ];
  for (const [language, run] of [
    ["curl", shell],
    ["CLI", shell],
    ["TypeScript", typeScript],
  ] as const) {
    const audio = { kind: "file", name: "my call; 1.mp3" } as const;
    const { path, fields } = await run(
      codeOf(language, { origin, patchbay: "patchbay", audio, entries, fields: FIELDS }),
    );
    assert.deepEqual(
      [path, fields],
      ["/v1/translation", { prompt: "true", to_language: "de", dry_run: true }],
      language,
    );
  }
});
