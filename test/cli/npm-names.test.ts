// Which npm packages our documents, pages, messages and sources name: a reader who follows one runs its code, so it is ours or a dependency.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly [group: string]: unknown;
}

const manifest = JSON.parse(read("package.json")) as Manifest;
const oracle = JSON.parse(read("test/sdk-oracle/package.json")) as Manifest;
const GROUPS = ["dependencies", "optionalDependencies", "devDependencies"];
/** Its library is a dependency; the command line is run by hand. */
const LINTER = "@redocly/cli";
const known = new Set([
  manifest.name,
  LINTER,
  ...[manifest, oracle].flatMap((each) => GROUPS.flatMap((group) => Object.keys(each[group] ?? {}))),
]);

/** What the shell is given: the package is the first word that is no flag. */
const COMMANDS =
  /\b(?:npx|bunx|npm (?:install|i|add|exec)|pnpm (?:add|dlx)|yarn (?:add|dlx)|bun add)((?: +--?[\w-]+(?:=\S+)?)*) +([@\w][\w@/.~^-]*)/gu;
/** Of a client's configuration: `{ "command": "npx", "args": ["-y", "NAME"] }`. */
const ARGUMENTS = /"npx"[^[\]]{0,40}\[((?:\s*"-[^"]*",)*)\s*"([^"]+)"/gu;
const IMPORTS =
  /(?:(?<!distinct )\bfrom|\bimport|\bimport\(|\brequire\()\s*(["'])((?:@[\w.-]+\/)?[a-z][\w.-]*(?:\/[\w./-]+)?)\1/gu;
/** As prose names an entry of the package, with or without a package before it. */
const ENTRIES = /(?<![\w./-])patchbay\/(?:client|provider|webhooks)\b/gu;

/** Names of packages in the forms that a reader could follow. */
function packagesIn(text: string): readonly string[] {
  const named = [COMMANDS, ARGUMENTS, IMPORTS].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((hit) => hit[2] ?? ""),
  );
  return [...named, ...[...text.matchAll(ENTRIES)].map(([entry]) => entry)];
}

function packageOf(name: string): string {
  const [first = "", second = ""] = name.split("/");
  return first.startsWith("@") ? `${first}/${second.replace(/@.*$/u, "")}` : first.replace(/@.*$/u, "");
}

const files = globSync(["*", "{bench,bin,docs,sandbox,scripts,src,test}/**/*"], { cwd: ROOT, withFileTypes: true })
  .filter(
    (entry) => entry.isFile() && /\.(?:css|html|js|json|md|mjs|sh|sql|ts|yaml|yml)$|^Dockerfile$/u.test(entry.name),
  )
  .map((entry) =>
    join(entry.parentPath, entry.name)
      .slice(ROOT.length + 1)
      .replaceAll("\\", "/"),
  )
  // Lists of names that npm wrote, this file, and inputs, which are not our text.
  .filter((path) => !/node_modules|package-lock\.json$|^test\/(?:cli\/npm-names|cases\/)/u.test(path));

test("cli.documented-names: every npm package that a document, page, message or source names is this one or a dependency", () => {
  assert.ok(files.length > 1_000);
  const strangers = files.flatMap((path) => {
    // History: it says what entries were called then.
    const isHistory = path === "CHANGELOG.md" || path === "ARCHITECTURE.md";
    return packagesIn(read(path))
      .filter((name) => !isBuiltin(name) && !known.has(packageOf(name)) && !(isHistory && name.startsWith("patchbay/")))
      .map((name) => `${path}: ${name}`);
  });
  assert.deepEqual(strangers, []);
});

test("cli.documented-names: every entry of the package that is imported anywhere is one that it exports", () => {
  const missing = files.flatMap((path) =>
    packagesIn(read(path))
      .filter((name) => name.startsWith(`${manifest.name}/`) && !(name.replace(manifest.name, ".") in manifest.exports))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test("cli.documented-names: the search for names of packages finds each form that a reader could follow", () => {
  const forms = [
    "npm install --save stranger",
    "npx -y stranger mcp",
    "npx stranger@1.2.3",
    '{ "command": "npx", "args": ["-y", "stranger", "mcp"] }',
    'import { a } from "stranger/sub";',
    "await import('stranger')",
    'require("stranger")',
    "bunx stranger",
  ];
  for (const form of forms) assert.deepEqual(packagesIn(form).map(packageOf), ["stranger"], form);
  assert.deepEqual(packagesIn("the entry `patchbay/client`"), ["patchbay/client"]);
});

test("cli.documented-names: the lock file names the package as its manifest does", () => {
  const lock = JSON.parse(read("package-lock.json")) as { name: string; packages: Readonly<Record<string, Manifest>> };
  assert.deepEqual([lock.name, lock.packages[""]?.name], [manifest.name, manifest.name]);
});
