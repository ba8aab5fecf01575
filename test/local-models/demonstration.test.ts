// The bundled demonstration model: its manifest, its files and what the code says about them.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
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
import { verifyBundled } from "../../src/operations/models/verify-bundled.ts";
import { SAMPLE_TEXT } from "../harness/sample-text.ts";
import { run } from "../cli/fake-gateway.ts";
import { WITH_ENGINE } from "../providers/local/engines.ts";
import { testOutbound } from "./lying-server.ts";

const directory = demonstrationDirectory(packageRoot());
const manifest = JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8"));
type Measured = Readonly<Record<"words" | "substitutions" | "deletions" | "insertions", number>>;
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

test("local.demonstration: the model is small, knows the words of the sample, and was measured to err on at most 30 % of the words of voices that it never heard", () => {
  const totalBytes = manifest.files.reduce((sum: number, { bytes }: { bytes: number }) => sum + bytes, 0);
  assert.ok(totalBytes < 3_000_000);
  const known = new Set(readFileSync(join(directory, "words.txt"), "utf8").trim().split("\n"));
  assert.ok(known.size >= 100);
  const spoken = SAMPLE_TEXT.toLowerCase().match(/[a-z']+/gu) ?? [];
  assert.deepEqual(
    spoken.filter((word) => !known.has(word)),
    [],
  );
  const { groups } = JSON.parse(readFileSync(join(directory, "train/measured.json"), "utf8"));
  const unheard = Object.entries<Measured>(groups).flatMap(([name, group]) =>
    name.startsWith("unheard") ? [group] : [],
  );
  const sum = (of: (group: Measured) => number) => unheard.reduce((total, group) => total + of(group), 0);
  const errors = sum(({ substitutions, deletions, insertions }) => substitutions + deletions + insertions);
  const rate = errors / sum(({ words }) => words);
  assert.ok(rate > 0 && rate <= 0.3, `${rate}`);
});

test(
  "local.tried: `models verify` recognises the bundled sample with the bundled model, and names a file that is not the package's",
  WITH_ENGINE,
  async (t) => {
    const cwd = mkdtempSync(join(tmpdir(), "patchbay-verify-"));
    t.after(() => rmSync(cwd, { recursive: true }));
    const verify = (from: string, ...names: readonly string[]) =>
      run(["models", "verify", ...names], {
        cwd,
        models: { openDownloads: async () => testOutbound(t), verifyBundled: (signal) => verifyBundled(signal, from) },
      });
    const intact = await verify(directory);
    assert.deepEqual([intact.exitCode, intact.stdout], [0, `${DEMONSTRATION}: ok\n`], intact.stderr);
    assert.match(intact.stderr, /No model is installed/u);
    const copy = join(cwd, "copy");
    cpSync(directory, copy, { recursive: true });
    writeFileSync(join(copy, "tokens.txt"), readFileSync(join(directory, "tokens.txt"), "utf8").replace("a", "b"));
    const changed = await verify(copy, DEMONSTRATION);
    assert.deepEqual([changed.exitCode, changed.stdout], [1, `${DEMONSTRATION}: differs\n`]);
    assert.match(changed.stderr, /tokens\.txt has the SHA-256 .*\n +repair it: npm ci/u);
  },
);
