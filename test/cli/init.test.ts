// `patchbay init`: the files for each situation, with and without their options, and what it refuses to replace.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, test } from "node:test";
import { CONFIGURATION_NAME, INIT_FILES, SITUATIONS, VARIABLES_NAME } from "../../src/cli/operate/init/situations.ts";
import { run } from "./fake-gateway.ts";

const root = mkdtempSync(join(tmpdir(), "patchbay-init-"));
after(() => rmSync(root, { recursive: true }));
const folder = (): string => mkdtempSync(join(root, "of-"));

const secretOf = (name: string): string => Buffer.alloc(32, name).toString("base64");

/** Variables of the file, those that are switched off included or not, with their example or a secret. */
function variablesIn(text: string, pattern: RegExp): Readonly<Record<string, string>> {
  return Object.fromEntries([...text.matchAll(pattern)].map(([, name = "", value]) => [name, value || secretOf(name)]));
}

const REQUIRED = /^([A-Z][A-Z0-9_]*)=(.*)$/gmu;
const NAMED = /^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$/gmu;
/** A comment has one blank behind the #, an option that is switched off none, and its further lines two or more. */
function isSwitchedOff(line: string): boolean {
  return /^ *#(?:[a-z_-]| {2,})/u.test(line);
}

/** Blocks of adjacent lines that are switched off, as line numbers. */
function blocksOf(lines: readonly string[]): readonly (readonly number[])[] {
  const blocks: number[][] = [];
  for (const [index, line] of lines.entries()) {
    if (!isSwitchedOff(line)) continue;
    const last = blocks.at(-1);
    if (last?.at(-1) === index - 1) last.push(index);
    else blocks.push([index]);
  }
  return blocks;
}

function switchOn(lines: readonly string[], numbers: readonly number[]): string {
  return lines.map((line, index) => (numbers.includes(index) ? line.replace("#", "") : line)).join("\n");
}

for (const situation of SITUATIONS) {
  const { configuration, variables } = INIT_FILES[situation];

  test(`cli.init: for ${situation}, init writes a valid file that reads exactly the variables it names, and prints what to do next`, async () => {
    const cwd = folder();
    const ran = await run(["init", "--for", situation], { cwd });
    assert.equal(ran.exitCode, 0, ran.stderr);
    const names = variables === null ? [CONFIGURATION_NAME] : [CONFIGURATION_NAME, VARIABLES_NAME];
    assert.deepEqual(
      ran.stdout.trim().split("\n"),
      names.map((name) => join(cwd, name)),
    );
    assert.match(ran.stderr, /^patchbay\.yaml is valid, for: /mu);
    assert.match(ran.stderr, /^next: .+\n(?: {6}.+\n)*? {6}patchbay /mu);
    const required = variablesIn(variables ?? "", REQUIRED);
    for (const name of Object.keys(required))
      assert.match(ran.stderr, new RegExp(`^variables to set: .*\\b${name}\\b`, "mu"));
    const read = [...configuration.matchAll(/\$\{env:([A-Z0-9_]+)\}/gu)].map(([, name = ""]) => name);
    const named =
      variables === null ? ["DEEPGRAM_API_KEY", "OPENAI_API_KEY"] : Object.keys(variablesIn(variables, NAMED));
    assert.deepEqual(new Set(read.filter((name) => name !== "NAME")), new Set(named));
    const validated = await run(["config", "validate"], { cwd, env: required });
    assert.deepEqual([validated.exitCode, validated.stderr], [0, ""]);
    for (const name of Object.keys(required)) {
      const { [name]: _left, ...others } = required;
      assert.equal((await run(["config", "validate"], { cwd, env: others })).exitCode, 9, `${name} is needed`);
    }
  });

  test(`cli.init: for ${situation}, every option that is switched off is known, alone and together with all others`, async () => {
    const cwd = folder();
    const lines = configuration.split("\n");
    const blocks = blocksOf(lines);
    assert.ok(blocks.length >= 3, String(blocks.length));
    const env = { DEEPGRAM_API_KEY: "k", OPENAI_API_KEY: "k", ...variablesIn(variables ?? "", NAMED) };
    const isValid = async (text: string, what: string): Promise<void> => {
      writeFileSync(join(cwd, CONFIGURATION_NAME), text);
      const { exitCode, stderr } = await run(["config", "validate"], { cwd, env });
      assert.equal(exitCode, 0, `${what}\n${stderr}`);
    };
    await isValid(switchOn(lines, blocks.flat()), "all");
    const textOf = (block: readonly number[]): string => block.map((at) => lines[at]).join("\n");
    const declaring = blocks.filter((block) => /kind: (?:openai|local)\b/u.test(textOf(block)));
    for (const block of blocks) {
      // What names a connection needs the line that declares it.
      const needed = /connection: /u.test(textOf(block)) ? declaring.flat() : [];
      await isValid(switchOn(lines, [...block, ...needed]), textOf(block));
    }
  });
}

test("cli.init: on a terminal init asks for the situation, by number or name, until it has one; elsewhere it is the one to try", async () => {
  const chosen = async (...answers: readonly string[]): Promise<string> => {
    const cwd = folder();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    for (const answer of answers) stdin.write(`${answer}\n`);
    const { exitCode, stderr } = await run(["init", "--json"], { cwd, stdin });
    assert.equal(exitCode, 0, stderr);
    assert.match(stderr, / {2}3 {2}production: /u);
    const text = readFileSync(join(cwd, CONFIGURATION_NAME), "utf8");
    return SITUATIONS.find((each) => INIT_FILES[each].configuration === text) ?? "none";
  };
  assert.equal(await chosen(""), "try");
  assert.equal(await chosen("2"), "team");
  assert.equal(await chosen("4", "Production"), "production");
  const cwd = folder();
  const ran = await run(["init", "--json"], { cwd });
  assert.deepEqual(JSON.parse(ran.stdout), {
    object: "init",
    for: "try",
    files: [join(cwd, CONFIGURATION_NAME)],
    missing: [],
  });
});

test("cli.init: init replaces no file without --force, and writes none where one is in the way", async () => {
  const cwd = folder();
  writeFileSync(join(cwd, VARIABLES_NAME), "mine\n");
  const ran = await run(["init", "--for", "team", "--json"], { cwd });
  assert.equal(ran.exitCode, 5);
  assert.match((JSON.parse(ran.stdout) as { error: { message: string } }).error.message, /\.env\.example is there/u);
  assert.match(ran.stderr, /^ {2}replace what is there: patchbay init --force$/mu);
  assert.deepEqual(readdirSync(cwd), [VARIABLES_NAME]);
  assert.equal(readFileSync(join(cwd, VARIABLES_NAME), "utf8"), "mine\n");
  assert.equal((await run(["init", "--for", "team", "--force"], { cwd })).exitCode, 0);
  assert.equal(readFileSync(join(cwd, VARIABLES_NAME), "utf8"), INIT_FILES.team.variables);
});

test("cli.init: the next commands work in the new directory, also if init was called by npm", async () => {
  const options = { cwd: folder(), command: "npm run patchbay --" };
  const elsewhere = await run(["init", "new"], options);
  assert.match(
    elsewhere.stderr,
    /^next: cd new\n {6}node \S+[\\/]bin[\\/]patchbay\.js up\n {6}node \S+ transcribe --sample$/mu,
  );
  const here = await run(["init"], options);
  assert.match(here.stderr, /^next: npm start$/mu);
});

test("cli.init: the comments of the written files name commands as they are called where the files are", async () => {
  const cwd = folder();
  const npm = { cwd, command: "npm run patchbay --" };
  assert.equal((await run(["init", "--for", "production"], npm)).exitCode, 0);
  const variables = readFileSync(join(cwd, VARIABLES_NAME), "utf8");
  assert.match(variables, /^# {3}npm run patchbay -- doctor\n# {3}npm start -- --processes 4$/mu);
  const configuration = readFileSync(join(cwd, CONFIGURATION_NAME), "utf8");
  assert.match(configuration, /Check this file: `npm run patchbay -- config validate`/u);
  assert.equal((await run(["init", "elsewhere", "--for", "team"], npm)).exitCode, 0);
  const elsewhere = readFileSync(join(cwd, "elsewhere", VARIABLES_NAME), "utf8");
  assert.match(elsewhere, /^# {3}node \S+[\\/]bin[\\/]patchbay\.js up$/mu);
  for (const text of [variables, configuration, elsewhere])
    assert.doesNotMatch(text, /(?<![\w./@-])patchbay [a-z]+\b(?! with| for| in )/u);
});

test("cli.init: init creates its directory, and leaves nothing of one that cannot be written", async () => {
  const cwd = folder();
  const ran = await run(["init", "missing/directory", "--for", "production"], { cwd });
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.match(ran.stderr, /^next: cd missing\/directory$/mu);
  assert.deepEqual(readdirSync(join(cwd, "missing/directory")).toSorted(), [VARIABLES_NAME, CONFIGURATION_NAME]);
  writeFileSync(join(cwd, "file"), "");
  const refused = await run(["init", "file/below"], { cwd });
  assert.equal(refused.exitCode, 2);
  assert.match(refused.stderr, /file\/below cannot be written to \(ENOTDIR\)/u);
  assert.deepEqual(readdirSync(cwd).toSorted(), ["file", "missing"]);
  mkdirSync(join(cwd, "taken", VARIABLES_NAME), { recursive: true });
  const forced = await run(["init", "taken", "--for", "team", "--force"], { cwd });
  assert.equal(forced.exitCode, 2);
});
