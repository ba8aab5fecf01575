// What every command has in common: its help, and the form of its errors. The table of commands is walked, so that a new command is covered.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Command } from "commander";
import type { Run } from "../../src/cli/command-kit.ts";
import { COMMAND_GROUPS, COMMAND_NAMES } from "../../src/cli/command-names.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { EXIT, EXIT_CODE_HELP } from "../../src/cli/exit-codes.ts";
import { operations, run } from "./fake-gateway.ts";

const directory = mkdtempSync(join(tmpdir(), "patchbay-help-"));
after(() => rmSync(directory, { recursive: true }));

/** Every command and subcommand by its words, such as `jobs list`. */
async function allCommands(): Promise<readonly (readonly [path: string, command: Command])[]> {
  const program = new Command();
  const nothing = () => Promise.resolve(0);
  for (const { load } of COMMANDS) (await load())(program, {} as Run, { up: nothing, work: nothing, operations });
  const walk = (command: Command, path: string): readonly (readonly [string, Command])[] =>
    command.commands.flatMap((below) => {
      const words = `${path}${below.name()}`;
      return [[words, below] as const, ...walk(below, `${words} `)];
    });
  return walk(program, "");
}

/** Examples in the help of a command. */
async function examplesOf(path: string): Promise<readonly string[]> {
  const { stdout } = await run([...path.split(" "), "--help"]);
  const [, list = ""] = /\nExamples:\n((?: {2}\$ .+\n)+)$/u.exec(stdout) ?? [];
  return list.split("\n").flatMap((line) => (line === "" ? [] : [line.slice("  $ ".length)]));
}

test("cli.help: the help of every command ends with the exit codes and with examples of that command", async () => {
  for (const [path] of await allCommands()) {
    const { stdout, exitCode } = await run([...path.split(" "), "--help"]);
    assert.equal(exitCode, 0, path);
    assert.ok(stdout.startsWith("Usage: "), path);
    assert.ok(stdout.includes(`\n${EXIT_CODE_HELP}\n\nExamples:\n`), path);
    const examples = await examplesOf(path);
    assert.ok(
      examples.some((example) => example.includes(`patchbay ${path}`)),
      `${path} has an example of its own`,
    );
  }
});

test("cli.help: --help lists the commands in four groups, each command once", async () => {
  const { stdout } = await run(["--help"]);
  const groups = [...stdout.matchAll(/^(\w+):\n((?: {2}.*\n)+)/gmu)].map(
    ([, name = "", list = ""]) => [name, [...list.matchAll(/^ {2}([a-z][a-z-]*)/gmu)].map(([, each]) => each)] as const,
  );
  const expected = Object.entries(COMMAND_GROUPS).map(([name, names]) => [name, new Set<string>(names)] as const);
  const shown = groups.filter(([name]) => name in COMMAND_GROUPS);
  assert.deepEqual(
    shown.map(([name, names]) => [name, new Set(names.filter((each) => each !== "help" && each !== "completion"))]),
    expected,
  );
  assert.equal(new Set(COMMAND_NAMES).size, COMMAND_NAMES.length);
});

/** The last lines: what happened, then what to do. Progress may be above. */
const ERROR = /(?:^|\n)error [A-Z`\d/].*[.)]\n(?: {2}\S.*\n)+$/u;

test("cli.errors, cli.json, cli.usage-errors: every command reports an unknown option, and what is missing, in the same form with exit code 2", async () => {
  for (const [path, command] of await allCommands()) {
    const words = path.split(" ");
    const unknown = await run([...words, "--no-such-option"]);
    // A command of commands reports that one is missing, or that there is no such one.
    assert.deepEqual([unknown.exitCode, unknown.stdout], [2, ""], path);
    assert.match(unknown.stderr, ERROR, path);
    assert.ok(unknown.stderr.endsWith(`  see: patchbay ${path} --help\n`), path);
    const asJson = await run([...words, "--no-such-option", "--json"]);
    assert.match(asJson.stdout, /^\{"error":\{"code":null,"message":".+"\}\}\n$/u, path);
    if (!command.registeredArguments.some(({ required }) => required)) continue;
    const missing = await run(words);
    assert.equal(missing.exitCode, 2, path);
    assert.match(missing.stderr, ERROR, path);
  }
});

test("cli.errors, cli.exit-codes: without a gateway and without files, every example ends with a documented exit code and what to do", async () => {
  const url = await closedPort();
  const env = { PATCHBAY_API_KEY: "test-key-of-the-cli-0123456789", PATCHBAY_URL: url, PATCHBAY_ADMIN_URL: url };
  let count = 0;
  for (const path of await pathsThatAsk()) {
    for (const example of await examplesOf(path)) {
      const argv = wordsOf(example.replaceAll(/https?:\/\/127\.0\.0\.1:808\d/gu, url));
      if (argv === null) continue;
      count += 1;
      const { exitCode, stderr } = await run(argv, { env, cwd: directory });
      assert.ok(Object.values<number>(EXIT).includes(exitCode), `${example}: ${exitCode}`);
      if (exitCode !== 0) assert.match(stderr, ERROR, example);
    }
  }
  assert.ok(count > 60, String(count));
});

async function pathsThatAsk(): Promise<readonly string[]> {
  const { Use, Inspect, Administer } = COMMAND_GROUPS;
  const asking = new Set<string>([...Use, ...Inspect, ...Administer]);
  // These call no gateway, or serve until their client ends.
  for (const name of ["mcp", "console", "route"]) asking.delete(name);
  const paths = (await allCommands()).map(([path]) => path);
  return paths.filter((path) => asking.has(path.split(" ")[0] ?? ""));
}

/** The words of an example for this command line alone. Null: it needs a shell, or another machine. */
function wordsOf(example: string): readonly string[] | null {
  const [, inner] = /^\w+=\$\((.*)\)$/u.exec(example) ?? [];
  const line = inner ?? example;
  if (!line.startsWith("patchbay ") || /[|<>]|--url/u.test(line)) return null;
  const words = line.match(/'[^']*'|"[^"]*"|\S+/gu) ?? [];
  return words.slice(1).map((word) => word.replaceAll(/^['"]|['"]$/gu, ""));
}

/** An address at which nothing listens. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
