// The spool, where audio waits while a request is judged: what goes in comes out, and nothing remains.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { access, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { diskFullError } from "../../src/audio/disk-full-error.ts";
import { openSpool, type Spool, type SpooledAudio } from "../../src/audio/spool.ts";
import { spoolFileName } from "../../src/audio/spool-leftovers.ts";
import { GatewayError } from "../../src/contract/errors.ts";

async function directoryOf(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "patchbay-spool-"));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

async function keep(spool: Spool, bytes: Uint8Array, step: number): Promise<SpooledAudio> {
  const writer = spool.begin({ maxBytes: bytes.length, param: "file" });
  for (let at = 0; at < bytes.length; at += step) await writer.write(bytes.subarray(at, at + step));
  return writer.finish();
}

test("measuring.spool-exact: a file is hashed as it is written where its hash is wanted, otherwise when it is asked for; both are its SHA-256", async (t) => {
  const spool = await openSpool({ directory: await directoryOf(t), memoryLimitBytes: 1_000 });
  const bytes = randomBytes(300_000);
  for (const hashed of [true, false]) {
    const writer = spool.begin({ maxBytes: bytes.length, param: "file", hashed });
    await writer.write(bytes);
    const spooled = await writer.finish();
    assert.equal(spooled.source.kind, "file");
    assert.equal(await spooled.sha256(), createHash("sha256").update(bytes).digest("hex"));
    await spooled.dispose();
    await assert.rejects(spooled.sha256());
  }
});

async function readAll(spooled: SpooledAudio): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of spooled.open()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("measuring.spool-exact: read in passing, the pieces are the same and are in one memory; else each is the reader's to keep", async (t) => {
  const spool = await openSpool({ directory: await directoryOf(t) });
  for (const size of [700_000, 5_000_000]) {
    const bytes = randomBytes(size);
    const spooled = await keep(spool, bytes, 65_536);
    const seen: Buffer[] = [];
    const memories = new Set<ArrayBufferLike>();
    for await (const piece of spooled.open("passing")) {
      seen.push(Buffer.from(piece));
      memories.add(piece.buffer);
    }
    assert.equal(memories.size, 1);
    assert(seen.length > 2);
    assert(Buffer.concat(seen).equals(bytes));
    assert((await readAll(spooled)).equals(bytes));
    await spooled.dispose();
  }
});

test("measuring.spool-exact: read whole, bytes in memory are one piece, and those of a file come in several", async (t) => {
  const spool = await openSpool({ directory: await directoryOf(t) });
  for (const size of [700_000, 5_000_000]) {
    const bytes = randomBytes(size);
    const spooled = await keep(spool, bytes, 65_536);
    const seen: Buffer[] = [];
    for await (const piece of spooled.open("whole")) seen.push(Buffer.from(piece));
    assert.equal(seen.length === 1, spooled.source.kind === "bytes");
    assert(Buffer.concat(seen).equals(bytes));
    await spooled.dispose();
  }
});

for (const [size, step] of [
  [0, 1],
  [1, 1],
  [999, 10],
  [1_000, 1_000],
  [1_001, 7],
  [70_000, 70_000],
  [1_000_000, 65_536],
  [1_000_000, 999_999],
] as const) {
  test(`measuring.spool-exact, measuring.spool-cleanup: ${size} bytes in steps of ${step} come back whole and hashed, as often as asked, and then are gone`, async (t) => {
    const directory = await directoryOf(t);
    const spool = await openSpool({ directory, memoryLimitBytes: 1_000 });
    const bytes = randomBytes(size);
    const spooled = await keep(spool, bytes, step);
    assert.equal(spooled.sizeBytes, size);
    assert.equal(await spooled.sha256(), createHash("sha256").update(bytes).digest("hex"));
    assert.equal(spooled.source.kind, size > 1_000 ? "file" : "bytes");
    assert.equal(spool.bytesInFlight, size);
    assert.deepEqual(await readAll(spooled), bytes);
    assert.deepEqual(await readAll(spooled), bytes);
    if (spooled.source.kind === "file") {
      assert.equal((await stat(spooled.source.path)).mode & 0o777, 0o600);
      assert.equal(spooled.source.sizeBytes, size);
    }
    await Promise.all([spooled.dispose(), spooled.dispose()]);
    await spooled.dispose();
    assert.deepEqual(await readdir(directory), []);
    assert.equal(spool.bytesInFlight, 0);
    assert.throws(() => spooled.open());
  });
}

test("measuring.spool-limit: byte N is accepted, byte N + 1 is AUDIO_TOO_LARGE while writing, in memory and on disk", async (t) => {
  const directory = await directoryOf(t);
  const spool = await openSpool({ directory, memoryLimitBytes: 100 });
  for (const maxBytes of [50, 5_000]) {
    const writer = spool.begin({ maxBytes, param: "file" });
    for (let left = maxBytes; left > 0; left -= 10) await writer.write(randomBytes(10));
    assert.throws(
      () => writer.write(randomBytes(1)),
      (error) =>
        error instanceof GatewayError &&
        error.code === "AUDIO_TOO_LARGE" &&
        error.param === "file" &&
        error.details?.["max_audio_bytes"] === maxBytes &&
        error.details["received_bytes"] === maxBytes + 1,
    );
    await writer.abort();
  }
  assert.deepEqual(await readdir(directory), []);
  assert.equal(spool.bytesInFlight, 0);
});

test("measuring.spool-memory: what was announced as too large for memory is in a file from its first byte, though less of it comes", async (t) => {
  const spool = await openSpool({ directory: await directoryOf(t), memoryLimitBytes: 1_000 });
  const bytes = randomBytes(10);
  for (const [leastBytes, kind] of [
    [1_000, "bytes"],
    [1_001, "file"],
  ] as const) {
    const writer = spool.begin({ maxBytes: 2_000, param: "file", leastBytes });
    await writer.write(bytes);
    const spooled = await writer.finish();
    assert.equal(spooled.source.kind, kind);
    assert.deepEqual(await readAll(spooled), bytes);
    await spooled.dispose();
  }
});

test("measuring.spool-cleanup: an aborted writer leaves nothing, at whatever point, and may be aborted again", async (t) => {
  const directory = await directoryOf(t);
  const spool = await openSpool({ directory, memoryLimitBytes: 100 });
  for (const size of [0, 100, 101, 300_000, 3_000_000]) {
    const writer = spool.begin({ maxBytes: 10_000_000, param: "file" });
    if (size > 0) await writer.write(randomBytes(size));
    await writer.abort();
    await writer.abort();
    assert.throws(() => writer.write(randomBytes(1)));
    assert.deepEqual(await readdir(directory), [], `after ${size} bytes`);
  }
  assert.equal(spool.bytesInFlight, 0);
});

test("measuring.spool-cleanup: closing the spool ends what is being written: files gone, writes refused", async (t) => {
  const directory = await directoryOf(t);
  const spool = await openSpool({ directory, memoryLimitBytes: 100 });
  const spooled = await keep(spool, randomBytes(5_000), 500);
  const writer = spool.begin({ maxBytes: 10_000_000, param: "file" });
  const writing = Promise.resolve(writer.write(randomBytes(4_000_000))).catch((error: unknown) => error);
  await spool.close();
  assert.ok((await writing) instanceof Error);
  assert.throws(() => spooled.open());
  assert.throws(() => spool.begin({ maxBytes: 1, param: "file" }));
  assert.deepEqual(await readdir(directory), []);
  assert.equal(spool.bytesInFlight, 0);
});

test("measuring.spool-cleanup: opening makes the directory private and removes only what dead or old processes left", async (t) => {
  const parent = await directoryOf(t);
  const directory = join(parent, "deep", "spool");
  await openSpool({ directory });
  assert.equal((await stat(directory)).mode & 0o777, 0o700);
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  const named = (pid: number) => spoolFileName().replace(`-${process.pid}-`, `-${pid}-`);
  const elsewhere = spoolFileName().replace(/^audio-[0-9a-f]{8}/, "audio-00000000");
  const files = {
    ofDeadProcess: named(dead),
    ofLiveProcess: named(process.ppid),
    ofThisProcess: spoolFileName(),
    ofPredecessorWithThisId: spoolFileName(),
    ofOtherHost: elsewhere.replace(`-${process.pid}-`, `-${dead}-`),
    oldOfOtherHost: elsewhere.replace(/-[0-9a-f]{32}/, `-${"0".repeat(32)}`),
    notOurs: "notes.txt",
  };
  for (const name of Object.values(files)) await writeFile(join(directory, name), "x");
  const before = new Date(performance.timeOrigin - 60_000);
  await utimes(join(directory, files.ofPredecessorWithThisId), before, before);
  const longAgo = new Date(Date.now() - 25 * 3_600_000);
  await utimes(join(directory, files.oldOfOtherHost), longAgo, longAgo);
  await openSpool({ directory });
  assert.deepEqual(
    (await readdir(directory)).toSorted(),
    [files.ofLiveProcess, files.ofThisProcess, files.ofOtherHost, files.notOurs].toSorted(),
  );
});

test("measuring.spool-cleanup, measuring.spool-full: a file that cannot be written is a failure of the request and leaves no descriptor open", async (t) => {
  const directory = join(await directoryOf(t), "gone");
  const spool = await openSpool({ directory, memoryLimitBytes: 100 });
  await rm(directory, { recursive: true });
  const writer = spool.begin({ maxBytes: 10_000_000, param: "file" });
  await writer.write(randomBytes(200));
  await assert.rejects(writer.finish(), /could not be written/);
  await assert.rejects(access(directory));
  assert.equal(spool.bytesInFlight, 0);
});

test("measuring.spool-full: a disk without room is reported as a gateway that is full, any other failure of a write as an internal error", () => {
  const failure = (code: string) => Object.assign(new Error(code), { code });
  for (const code of ["ENOSPC", "EDQUOT", "EFBIG"]) assert.equal(diskFullError(failure(code))?.code, "OVERLOADED");
  assert.equal(diskFullError(failure("EIO")), null);
});

test("measuring.spool-memory: audio in memory can be kept beyond its request, 8 MiB of all together, and then is gone", async (t) => {
  const spool = await openSpool({ directory: await directoryOf(t) });
  const bytes = randomBytes(1_000_000);
  const all = await Promise.all(Array.from({ length: 8 }, () => keep(spool, bytes, 65_536)));
  const kept = all.map((spooled) => spooled.keep());
  assert.equal(kept.filter((each) => each !== null).length, 7, "blocks of a mebibyte and 64 KiB");
  for (const spooled of all) await spooled.dispose();
  assert.equal(spool.bytesInFlight, 7 * bytes.length);
  for (const each of kept) {
    if (each === null) continue;
    const pieces = await Array.fromAsync(each.open());
    assert.ok(Buffer.concat(pieces).equals(bytes));
    each.release();
    each.release();
  }
  assert.equal(spool.bytesInFlight, 0);
  const early = await keep(spool, bytes, 65_536);
  early.keep()?.release();
  assert.equal(spool.bytesInFlight, bytes.length);
  assert.ok((await readAll(early)).equals(bytes));
  await early.dispose();
  assert.equal(early.keep(), null);
  assert.equal(spool.bytesInFlight, 0);
  const file = await keep(spool, randomBytes(5_000_000), 65_536);
  assert.equal(file.keep(), null);
  await file.dispose();
});

test("measuring.spool-memory: audio that is let go in the moment in which its request ends is counted once", async (t) => {
  const spool = await openSpool({ directory: await directoryOf(t) });
  const spooled = await keep(spool, randomBytes(1_000), 1_000);
  const kept = spooled.keep();
  const disposed = spooled.dispose();
  kept?.release();
  await disposed;
  assert.equal(spool.bytesInFlight, 0);
});
