// Imports from local media: directories, archives and single files, in any arrangement.
import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { importModel, nothingFound, openMedium } from "../../src/local-models/import-models.ts";
import { ModelFault } from "../../src/local-models/model-fault.ts";
import type { ModelSpec } from "../../src/local-models/model-spec.ts";
import { readStored } from "../../src/local-models/model-store.ts";
import { CONTENTS, demoTar, entryOf, fileOf, specWith, tarOf } from "./demo-model.ts";

const never = new AbortController().signal;
const ARCHIVE = join(import.meta.dirname, "../fixtures/local-models/demo-model.tar.bz2");
const DEMO = specWith({ kind: "files", base: "https://models.example" });
const VOICE = Buffer.from("a voice");
const OTHER: ModelSpec = specWith(
  { kind: "files", base: "https://models.example" },
  {
    name: "other-model",
    role: "speakers",
    engine: { kind: "speaker_embedding", model: "voice.onnx" },
    files: [fileOf("voice.onnx", VOICE)],
  },
);
const MODELS = [DEMO, OTHER];

function makeDirectory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "patchbay-import-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function importAll(dir: string, path: string): Promise<readonly string[]> {
  const medium = await openMedium(path, MODELS, { dir }, never);
  try {
    if (medium.complete.length === 0) throw nothingFound(path, medium);
    for (const found of medium.complete) await importModel(found, path, { dir }, { signal: never });
    return medium.complete.map(({ spec }) => spec.name);
  } finally {
    await medium.dispose();
  }
}

async function assertFault(work: Promise<unknown>, message: RegExp, hint = /^/u): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ModelFault, String(error));
    assert.match(error.message, message);
    assert.match(error.hints.join("\n"), hint);
    return true;
  });
}

test("local-models.import: a directory with several models, arranged in any way, installs them all", async (t) => {
  const [dir, medium] = [makeDirectory(t), makeDirectory(t)];
  mkdirSync(join(medium, "a/b"), { recursive: true });
  for (const [path, content] of Object.entries(CONTENTS)) writeFileSync(join(medium, "a/b", path), content);
  writeFileSync(join(medium, "tokens.txt"), "of another model");
  writeFileSync(join(medium, "real"), VOICE);
  symlinkSync(join(medium, "real"), join(medium, "a/voice.onnx"));
  assert.deepEqual(await importAll(dir, medium), ["demo-model", "other-model"]);
  for (const spec of MODELS) {
    const state = await readStored(dir, spec.name, MODELS);
    assert.ok(state.kind === "installed");
    assert.deepEqual(state.model.record.origin, { kind: "import", from: medium });
    assert.equal(state.model.record.licence.id, spec.licence.id);
  }
  assert.deepEqual(readFileSync(join(dir, "demo-model/tokens.txt")), CONTENTS["tokens.txt"]);
});

test("local-models.import: archives and single files are imported, and nothing else of them is left", async (t) => {
  const dir = makeDirectory(t);
  assert.deepEqual(await importAll(dir, ARCHIVE), ["demo-model"]);
  const file = join(makeDirectory(t), "voice.onnx");
  writeFileSync(file, VOICE);
  assert.deepEqual(await importAll(dir, file), ["other-model"]);
  assert.deepEqual(readdirSync(dir).toSorted(), [".locks", "demo-model", "other-model"]);
});

test("local-models.import: what a killed import left is removed a day later", async (t) => {
  const dir = makeDirectory(t);
  const [old, recent] = [join(dir, ".import-old"), join(dir, ".import-recent")];
  for (const path of [old, recent]) mkdirSync(path);
  const yesterday = new Date(Date.now() - 90_000_000);
  utimesSync(old, yesterday, yesterday);
  await importAll(dir, ARCHIVE);
  assert.deepEqual(readdirSync(dir).toSorted(), [".import-recent", ".locks", "demo-model"]);
});

test("local-models.import: a file with one flipped byte is refused", async (t) => {
  const [dir, medium] = [makeDirectory(t), makeDirectory(t)];
  for (const [path, content] of Object.entries(CONTENTS)) {
    const bytes = Buffer.from(content);
    if (path === "model.onnx") bytes[9] = (bytes[9] ?? 0) ^ 1;
    writeFileSync(join(medium, path), bytes);
  }
  await assertFault(importAll(dir, medium), /model\.onnx of .* has the SHA-256/u);
  assert.equal((await readStored(dir, "demo-model", MODELS)).kind, "absent");
});

test("local-models.import: what is missing is named, and an unknown medium is reported as that", async (t) => {
  const [dir, medium] = [makeDirectory(t), makeDirectory(t)];
  await assertFault(importAll(dir, join(medium, "nothing")), /There is no file or directory/u);
  await assertFault(importAll(dir, medium), /contains no model that this version knows/u);
  copyFileSync(ARCHIVE, join(medium, "model.onnx"));
  await assertFault(importAll(dir, medium), /contains no model/u);
  writeFileSync(join(medium, "tokens.txt"), CONTENTS["tokens.txt"] ?? "");
  await assertFault(importAll(dir, medium), /contains no complete model/u, /demo-model lacks model\.onnx/u);
});

test("local-models.import, local-models.archive-paths: an archive with `../` installs nothing, even with a complete model in it", async (t) => {
  const dir = makeDirectory(t);
  const path = join(makeDirectory(t), "evil.tar");
  const files = Object.entries(CONTENTS).map(([name, content]) => entryOf(`demo/${name}`, content));
  writeFileSync(path, await tarOf([...files, entryOf("../../evil", Buffer.from("x"))]));
  await assertFault(importAll(dir, path), /is refused: "\.\.\/\.\.\/evil" is not a path inside of it/u);
  assert.deepEqual(readdirSync(dir), []);
  writeFileSync(path, await demoTar());
  assert.deepEqual(await importAll(dir, path), ["demo-model"]);
});
