// A restart waits for the process before it, for a bounded time; a gateway that is not stopping is not waited for.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { awaitDataDir, awaitPort } from "../../src/start/await-predecessor.ts";
import { writeRunningGateway } from "../../src/config/running-gateway.ts";
import { lockInstallation, ownerOf } from "../../src/storage/embedded/installation-lock.ts";

const folder = mkdtempSync(join(tmpdir(), "patchbay-predecessor-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(folder, "data-"));
});

const place = { url: "http://127.0.0.1:1", adminUrl: null, overridden: { url: false, adminUrl: false } };
const write = (isStopping: boolean) => writeRunningGateway(dataDir, { ...place, isStopping });

/** `at`: what happens when so many milliseconds have been waited. */
function fakeTime(at: ReadonlyMap<number, () => unknown> = new Map()) {
  let ms = 0;
  const said: string[] = [];
  const wait = async (duration: number): Promise<void> => {
    ms += duration;
    await at.get(ms)?.();
  };
  return { waiting: { wait, nowMs: () => ms, step: (text: string) => said.push(text) }, said, waitedMs: () => ms };
}

test("configuration.restart-waits: it waits until a process that is stopping releases the data directory, and says so once", async () => {
  const lock = await lockInstallation(dataDir);
  await write(true);
  const { waiting, said, waitedMs } = fakeTime(new Map([[5_000, () => lock.release()]]));
  await awaitDataDir(dataDir, waiting);
  assert.equal(waitedMs(), 5_000);
  assert.equal(await ownerOf(dataDir), null);
  assert.deepEqual(said, [`waiting      process ${process.pid} is stopping: for at most 60 s`]);
});

test("configuration.restart-waits: it waits for 60 s at most", async () => {
  const lock = await lockInstallation(dataDir);
  await write(true);
  const { waiting, waitedMs } = fakeTime();
  await awaitDataDir(dataDir, waiting);
  assert.equal(waitedMs(), 60_000);
  await lock.release();
});

test("configuration.restart-waits: a gateway that keeps running is not waited for; one that reports a moment later that it stops is", async () => {
  const lock = await lockInstallation(dataDir);
  await write(false);
  const running = fakeTime();
  await awaitDataDir(dataDir, running.waiting);
  assert.deepEqual([running.waitedMs(), running.said], [1_000, []]);
  const late = fakeTime(
    new Map<number, () => unknown>([
      [500, () => write(true)],
      [3_000, () => lock.release()],
    ]),
  );
  await awaitDataDir(dataDir, late.waiting);
  assert.equal(late.waitedMs(), 3_000);
});

test("configuration.restart-waits: a directory that no process holds is not waited for", async () => {
  const { waiting, waitedMs } = fakeTime();
  await awaitDataDir(dataDir, waiting);
  assert.equal(waitedMs(), 0);
});

test("configuration.restart-waits: it waits for the port of a process that is stopping", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  await write(true);
  const { waiting, waitedMs } = fakeTime(new Map([[2_000, () => once(server.close(), "close")]]));
  await awaitPort(dataDir, { host: "127.0.0.1", port: address.port }, waiting);
  assert.equal(waitedMs(), 2_000);
});
