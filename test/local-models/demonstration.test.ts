// The bundled demonstration model: its manifest, its files and what the code says about them.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot, samplePath } from "../../src/cli/package-root.ts";
import {
  BUNDLED_SAMPLE,
  DEMONSTRATION,
  DEMONSTRATION_SPEC,
  DEMONSTRATION_WORDS,
  demonstrationDirectory,
  readDemonstration,
} from "../../src/providers/local/demonstration.ts";

const directory = demonstrationDirectory(packageRoot());
const manifest = JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8"));
const describeFile = (path: string) => {
  const bytes = readFileSync(path);
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
};

test("local.demonstration: the manifest lists the model's files with their bytes and SHA-256, and every file that the engine loads", async () => {
  for (const { path, ...expected } of manifest.files)
    assert.deepEqual(describeFile(join(directory, path)), expected, path);
  const { engine } = DEMONSTRATION_SPEC;
  const loaded = new Set(Object.entries(engine).flatMap(([part, path]) => (part === "kind" ? [] : [path])));
  assert.deepEqual(new Set(manifest.files.map(({ path }: { path: string }) => path)), loaded);
  assert.deepEqual((await readDemonstration(directory))?.files, manifest.files);
  const described = new Set(["README.md", "manifest.json", "words.txt", "train"]);
  assert.deepEqual(new Set(readdirSync(directory).filter((name) => !described.has(name))), loaded);
});

test("local.demonstration: name, words, engine version and sample of the manifest are those of the code", () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  const { name, words, engineVersion, sampleSha256 } = manifest;
  assert.deepEqual(
    [name, words, engineVersion, sampleSha256],
    [DEMONSTRATION, DEMONSTRATION_WORDS, optionalDependencies["sherpa-onnx-node"], [BUNDLED_SAMPLE.sha256]],
  );
  assert.deepEqual(describeFile(samplePath()), { bytes: BUNDLED_SAMPLE.sizeBytes, sha256: BUNDLED_SAMPLE.sha256 });
});
