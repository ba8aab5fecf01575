// The list of installed models that each request reads: from memory while nothing has changed, and never an old one.
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createInstalledReader } from "../../src/local-models/installed-reader.ts";
import { removeStored } from "../../src/local-models/model-store.ts";
import { installWords } from "../harness/local-model.ts";

/** All changes of the test are older than this. */
const LATER = () => Date.now() + 60_000;

test("local.model-list, local.process: the next request sees a model that was added, removed, installed again or damaged", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "patchbay-installed-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const read = createInstalledReader(dir, [], LATER);
  const names = async () => (await read()).map(({ name }) => name);
  assert.deepEqual(await names(), []);
  installWords(dir, { name: "one" });
  assert.deepEqual(await names(), ["one"]);
  installWords(dir, { name: "two" });
  assert.deepEqual(await names(), ["one", "two"]);
  assert.equal(await read(), await read(), "nothing has changed");
  installWords(dir, { name: "two", title: "Again" });
  assert.deepEqual(
    (await read()).map(({ spec }) => spec.title),
    [(await read())[0]?.spec.title, "Again"],
  );
  renameSync(join(dir, "one", "tokens.txt"), join(dir, "one", "away.txt"));
  assert.deepEqual(await names(), ["two"]);
  renameSync(join(dir, "one", "away.txt"), join(dir, "one", "tokens.txt"));
  assert.deepEqual(await names(), ["one", "two"]);
  await removeStored(dir, "one");
  assert.deepEqual(await names(), ["two"]);
  rmSync(dir, { recursive: true });
  assert.deepEqual(await names(), []);
  installWords(dir, { name: "three" });
  assert.deepEqual(await names(), ["three"]);
});

test("local.model-list: what was changed just now is read again, because a second change may have the same time", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "patchbay-installed-"));
  t.after(() => rmSync(dir, { recursive: true }));
  installWords(dir);
  const read = createInstalledReader(dir, []);
  assert.notEqual(await read(), await read());
  const later = createInstalledReader(dir, [], LATER);
  assert.equal(await later(), await later());
});

test("local.model-list: a folder that is not complete is looked at again, because a file in it may grow", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "patchbay-installed-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const { files } = installWords(dir, { name: "damaged" });
  appendFileSync(join(dir, "damaged", files[0]?.path ?? ""), "x");
  installWords(dir);
  const read = createInstalledReader(dir, [], LATER);
  assert.deepEqual(
    (await read()).map(({ name }) => name),
    ["words"],
  );
  assert.notEqual(await read(), await read());
});
