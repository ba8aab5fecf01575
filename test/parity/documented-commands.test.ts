// What the documents and the help ask users to type exists: every `patchbay …` with its options, every endpoint that is named.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ADMIN_ENDPOINTS } from "../../src/contract/endpoints/admin-endpoints.ts";
import { ENDPOINTS } from "../../src/contract/endpoints/endpoints.ts";
import { ERROR_STORIES } from "../../src/contract/error-stories.ts";
import { run } from "../cli/fake-gateway.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGES = [
  "README.md",
  "patchbay.example.yaml",
  ...globSync(["docs/{*,reference/*}.md", "examples/*.md", "examples/*/**/*.{sh,ts,mjs,py,yaml}"], { cwd: ROOT }),
];
const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8");

/** Behind `npm run patchbay --` and `npx`, and in `$(…)` too; prose that only speaks of patchbay has no command behind it. */
const COMMAND = /(?:^|[\s`(|])(?:npm run patchbay -- |npx patchbay-gateway |patchbay )(?<words>[a-z][^\n`|)#;]*)/gmu;

function commandsIn(text: string): readonly (readonly string[])[] {
  return [...text.replaceAll("\\\n", " ").matchAll(COMMAND)].map(({ groups }) =>
    // What is quoted is a value.
    (groups?.["words"] ?? "")
      .replaceAll(/'[^']*'|"[^"]*"/gu, "VALUE")
      .replaceAll(/["'\\]/gu, " ")
      .split(/[.,:]?\s+|[.,:]$/u)
      .filter(Boolean),
  );
}

const helps = new Map<string, Promise<{ exitCode: number; stdout: string }>>();
const helpOf = (names: readonly string[]) => {
  const key = names.join(" ");
  const help = helps.get(key) ?? run([...names, "--help"]);
  helps.set(key, help);
  return help;
};

/** Each command with those below it, as the help lists them. */
async function namesBelow(names: readonly string[]): Promise<ReadonlySet<string>> {
  const { stdout } = await helpOf(names);
  const lists = stdout.matchAll(/^(?:Commands|Use|Inspect|Administer|Operate):\n(?<list>(?: {2}.*\n?)+)/gmu);
  const listed = [...lists].map(({ groups }) => groups?.["list"] ?? "").join("");
  const found = [...listed.matchAll(/^ {2}([a-z][a-z|-]*)/gmu)].flatMap(([, name]) => name?.split("|") ?? []);
  return new Set(found.filter((name) => name !== "help"));
}

/** Null: it is no command, so the words were prose. */
async function faultOf(words: readonly string[]): Promise<string | null> {
  const [first = ""] = words;
  if (!(await namesBelow([])).has(first)) return null;
  const second = words[1] ?? "";
  const below = await namesBelow([first]);
  if (below.size > 0 && /^[a-z]/u.test(second) && !below.has(second)) return `there is no \`${first} ${second}\``;
  const { stdout } = await helpOf(below.has(second) ? [first, second] : [first]);
  const options = new Set(stdout.match(/(?<=[\s,])--?[a-z][a-z-]*/gu));
  const unknown = words
    .map((word) => /^--?[a-z][a-z-]*/u.exec(word)?.[0])
    .find((flag) => flag !== undefined && !options.has(flag));
  return unknown === undefined ? null : `\`${words.join(" ")}\` has no ${unknown}`;
}

test("cli.documented-names: every command that a document or a message names exists, with its options", async () => {
  let count = 0;
  // Messages and hints are in the code.
  for (const page of [...PAGES, ...globSync("src/**/*.ts", { cwd: ROOT })])
    for (const words of commandsIn(textOf(page))) {
      count += 1;
      assert.equal(await faultOf(words), null, page);
    }
  assert.ok(count > 150, String(count));
});

test("cli.documented-names: every example command of the help exists", async () => {
  const all: (readonly string[])[] = [[]];
  for (const name of await namesBelow([])) {
    all.push([name]);
    for (const below of await namesBelow([name])) all.push([name, below]);
  }
  let count = 0;
  for (const names of all) {
    const { stdout } = await helpOf(names);
    const examples = stdout.split("\n").filter((line) => line.startsWith("  $ "));
    for (const words of commandsIn(examples.join("\n"))) {
      count += 1;
      assert.equal(await faultOf(words), null, names.join(" "));
    }
  }
  assert.ok(count > 60, String(count));
});

test("cli.documented-names: every endpoint that a document or an error's page names is one", () => {
  const templates = [...ENDPOINTS, ...ADMIN_ENDPOINTS].map(({ method, path }) => ({
    method,
    segments: path.split("/"),
  }));
  const isServed = (method: string, path: string) => {
    const segments = path.split("/");
    return templates.some(
      (template) =>
        template.method === method &&
        template.segments.length === segments.length &&
        template.segments.every((part, index) => part.startsWith(":") || part === segments[index]),
    );
  };
  const NAMED = /\b(GET|PUT|POST|DELETE) (\/(?:v1|workspace|admin\/v1)\/[\w{}/.:-]*[\w}])/gu;
  const texts = [
    ...PAGES.map((page) => [page, textOf(page)] as const),
    ...Object.entries(ERROR_STORIES).map(([code, { why, action }]) => [code, `${why} ${action}`] as const),
  ];
  let count = 0;
  for (const [where, text] of texts)
    for (const [, method = "", path = ""] of text.matchAll(NAMED)) {
      count += 1;
      assert.ok(isServed(method, path), `${where}: ${method} ${path}`);
    }
  assert.ok(count > 30, String(count));
});
