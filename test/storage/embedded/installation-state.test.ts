// What a start finds in its data directory: a new place, a whole installation, an interrupted first start, or parts of another installation.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import {
  beginInstallation,
  completeInstallation,
  CREATION_MARKER,
  isBeingCreated,
} from "../../../src/storage/embedded/installation-state.ts";
import { openSecrets } from "../../../src/storage/secrets/open-secrets.ts";
import { fillDataDir, makeTemporary, removeDataDir } from "../../harness/postgres/embedded-data.ts";

let folder: string;
let dataDir: string;
before(async () => {
  folder = await makeTemporary("patchbay-state-");
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(folder, "data-"));
});
after(() => removeDataDir(folder));

const secrets = () => openSecrets({ databaseUrl: null, dataDir, keyPepper: null, encryptionKeys: [] });

async function refusal(): Promise<string> {
  const state = await beginInstallation(dataDir, false);
  return state.kind === "refused" ? [state.message, ...state.hints].join("\n") : state.kind;
}

test("storage.no-silent-database: secrets, results or job audio without a database are refused; nothing is created unless --new-database is given", async () => {
  for (const [part, named] of [
    ["key-pepper", "secrets"],
    ["encryption-key", "secrets"],
    ["objects/results/x", "objects"],
    ["objects/audio/x", "objects"],
  ] as const) {
    dataDir = await mkdtemp(join(folder, "data-"));
    mkdirSync(join(dataDir, part, ".."), { recursive: true });
    writeFileSync(join(dataDir, part), "of another database");
    const before = readdirSync(dataDir, { recursive: true });
    const said = await refusal();
    assert.ok(said.startsWith(`${dataDir} contains ${named} of an installation, but not its database.`), said);
    assert.match(said, /patchbay restore FILE --force\n[^]*DATABASE_URL[^]*patchbay up --new-database/u);
    assert.deepEqual(readdirSync(dataDir, { recursive: true }), before);
    assert.deepEqual(await beginInstallation(dataDir, true), { kind: "new" });
  }
});

test("storage.no-silent-database: an empty folder of objects, and foreign files, do not count as an installation", async () => {
  mkdirSync(join(dataDir, "objects", "results"), { recursive: true });
  writeFileSync(join(dataDir, "holiday.jpg"), "");
  assert.deepEqual(await beginInstallation(dataDir, false), { kind: "new" });
});

test("storage.former-version: a database of version 0.1.0 is refused with the command that moves it", async () => {
  mkdirSync(join(dataDir, "pglite"));
  writeFileSync(join(dataDir, "key-pepper"), "of version 0.1.0");
  assert.match(await refusal(), /database of version 0\.1\.0[^]*migrate-storage --to postgres:[^]*--new-database/u);
});

test("storage.first-start-resumes: an interrupted first start continues with the secrets that it created; its marker is readable by the owner only, and deleted when the start is complete", async () => {
  assert.deepEqual(await beginInstallation(dataDir, false), { kind: "new" });
  assert.equal(statSync(join(dataDir, CREATION_MARKER)).mode & 0o777, 0o600);
  const first = await secrets();
  assert.ok(first.ok);
  // Killed before there was a database.
  assert.deepEqual(await beginInstallation(dataDir, false), { kind: "new" });
  await fillDataDir(dataDir);
  // Killed before the start was complete.
  assert.deepEqual(await beginInstallation(dataDir, false), { kind: "new" });
  const again = await secrets();
  assert.ok(again.ok);
  assert.deepEqual([again.pepper, again.encryptionKeys], [first.pepper, first.encryptionKeys]);
  await completeInstallation(dataDir);
  assert.equal(await isBeingCreated(dataDir), false);
  assert.deepEqual(await beginInstallation(dataDir, false), { kind: "whole" });
});

test("storage.no-silent-secrets: a database without its secrets gets no new ones, and the missing ones are named", async () => {
  await fillDataDir(dataDir);
  assert.deepEqual(await beginInstallation(dataDir, false), { kind: "whole" });
  const opened = await secrets();
  assert.ok(!opened.ok);
  assert.match(opened.faults.join("\n"), /key-pepper[^]*encryption-key/u);
  assert.ok(!readdirSync(dataDir).some((name) => name === "key-pepper" || name === "encryption-key"));
});

test("storage.no-silent-secrets: the secrets of an installation stay as they are at every start", async () => {
  await beginInstallation(dataDir, false);
  await secrets();
  await fillDataDir(dataDir);
  await completeInstallation(dataDir);
  const names = ["key-pepper", "encryption-key"];
  const contents = () => names.map((name) => readFileSync(join(dataDir, name), "utf8"));
  const before = contents();
  await beginInstallation(dataDir, false);
  assert.ok((await secrets()).ok);
  assert.deepEqual(contents(), before);
  for (const name of names) assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600);
});
