// What a browser is given of `patchbay-gateway/client`: its own files alone, and few bytes of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const ROOT = join(import.meta.dirname, "../..");
const MAX_BYTES = 8_192;

/** As it is published: without types, and without the imports of types. */
const scriptOf = (file: string): string => stripTypeScriptTypes(readFileSync(join(ROOT, file), "utf8"));

/** Whatever is loaded to run a file, itself included. */
function filesFrom(file: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(file)) return found;
  const script = scriptOf(file);
  found.set(file, script);
  for (const [, specifier = ""] of script.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*["'`]([^"'`]+)["'`]/gu)) {
    assert.match(specifier, /^\.\//u, `${file} loads ${specifier}`);
    filesFrom(normalize(join(dirname(file), specifier)).replaceAll("\\", "/"), found);
  }
  return found;
}

test("client.no-dependencies: patchbay-gateway/client loads its own files and nothing else: no module of Node.js, no package, nothing of the gateway", () => {
  const files = filesFrom("src/client/client.ts");
  assert.ok(files.size > 8);
  for (const [file, script] of files) {
    assert.match(file, /^src\/client\/[a-z-]+\.ts$/u);
    assert.doesNotMatch(script, /\bimport\(|\brequire\(|\bBuffer\b/u, file);
  }
});

test("client.size: a browser loads less than 8 KB of patchbay-gateway/client, as the package's exports name it", () => {
  const script = [...filesFrom("src/client/client.ts").values()]
    .join("\n")
    .replaceAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu, "")
    .replaceAll(/\s+/gu, " ");
  const { length } = gzipSync(script);
  assert.ok(length > 1_000 && length < MAX_BYTES, String(length));
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, unknown>>;
  };
  assert.deepEqual(exports["./client"], {
    types: "./dist/src/client/client.d.ts",
    default: "./dist/src/client/client.js",
  });
});
