// The embedded engine in a directory: one process at a time, and nothing committed is lost to kill -9 (architecture "Engines").
// Of embedded storage alone.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { lockDataDir } from "../../src/storage/data-dir-lock.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { fillDataDir } from "../harness/database.ts";

const folders: string[] = [];
const children: ChildProcess[] = [];
const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-data-"));
  folders.push(folder);
  return folder;
};
after(() => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

test("architecture Engines: a second process is told who holds the directory; after kill -9 the next one starts, and finds what was committed", async () => {
  const dataDir = makeFolder();
  await fillDataDir(dataDir);
  const holder = spawn(process.execPath, [join(import.meta.dirname, "hold-data-dir.ts"), dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(holder);
  await once(holder.stdout, "data");
  await assert.rejects(openDatabase({ dataDir }), new RegExp(`${dataDir} is in use by process ${holder.pid}\\b`, "u"));
  holder.kill("SIGKILL");
  await once(holder, "exit");
  const database = await openDatabase({ dataDir });
  assert.deepEqual(await database.db.selectFrom("prices").select("model").execute(), [{ model: "committed" }]);
  await database.close();
  assert.deepEqual(readdirSync(dataDir), ["pglite"]);
});

test("architecture Engines: a lock is held against this process too, and free once released", async () => {
  const dataDir = makeFolder();
  const lock = await lockDataDir(dataDir);
  await assert.rejects(lockDataDir(dataDir), /in use by process/u);
  await lock.release();
  await (await lockDataDir(dataDir)).release();
});

test("architecture Engines: a lock whose process id now belongs to another process, or which is damaged, is stale", async () => {
  for (const stale of [`${process.pid} another-boot/1 x\n`, "999999999 b/1 x\n", "", "garbage"]) {
    for (let round = 0; round < 20; round += 1) {
      const dataDir = makeFolder();
      writeFileSync(join(dataDir, "pglite.lock"), stale);
      const racers = await Promise.allSettled(Array.from({ length: 8 }, () => lockDataDir(dataDir)));
      assert.equal(racers.filter((racer) => racer.status === "fulfilled").length, 1, JSON.stringify(stale));
      assert.deepEqual(readdirSync(dataDir), ["pglite.lock"]);
    }
  }
});

test("architecture Engines: a process killed while it took a stale lock over leaves no manual step", async () => {
  const dataDir = makeFolder();
  const stale = "999999999 b/1 x\n";
  const claim = `pglite.lock.${createHash("sha256").update(stale).digest("hex").slice(0, 16)}`;
  writeFileSync(join(dataDir, "pglite.lock"), stale);
  writeFileSync(join(dataDir, claim), "999999998 b/1 y\n");
  const lock = await lockDataDir(dataDir);
  assert.deepEqual(readdirSync(dataDir), ["pglite.lock"]);
  await lock.release();
});
