// A body taken piece by piece: a piece that is still being taken holds the sender, the end and the failure back.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { eachChunk, takeWhole } from "../../../src/http/body/body-chunks.ts";

const BOUND = { maxBytes: 100, tooLarge: (received: number) => new Error(`${received} bytes are too many`) };

test("request-body.bounded-memory: the next piece comes when the last one was taken, and the end after all of them", async () => {
  const body = new PassThrough();
  const begun: string[] = [];
  const taken: (() => void)[] = [];
  let over = false;
  const all = eachChunk(body, BOUND, (chunk) => {
    begun.push(chunk.toString());
    return new Promise<void>((resolve) => taken.push(resolve));
  }).finally(() => {
    over = true;
  });
  for (const text of ["one", "two", "three"]) body.write(text);
  body.end();
  for (const count of [1, 2, 3]) {
    await turns();
    assert.equal(begun.length, count);
    assert.equal(over, false);
    taken.at(-1)?.();
  }
  await all;
  assert.deepEqual(begun, ["one", "two", "three"]);
});

test("request-body.bounded-memory: of a chunk nothing is kept once it was taken, and not before; memory that is shared with others is not touched", async () => {
  const body = new PassThrough();
  const { promise, resolve } = Promise.withResolvers<void>();
  const shared = Buffer.alloc(6, "shared");
  const chunks = [Buffer.from(new ArrayBuffer(20_000)), Buffer.from(new ArrayBuffer(20_000)), shared.subarray(0, 3)];
  const all = eachChunk(body, { ...BOUND, maxBytes: 50_000 }, (chunk) => (chunk === chunks[1] ? promise : undefined));
  for (const chunk of chunks) body.write(chunk);
  await turns();
  assert.deepEqual([chunks[0]?.length, chunks[1]?.length], [0, 20_000]);
  resolve();
  body.end();
  await all;
  assert.deepEqual(
    chunks.map((chunk) => chunk.length),
    [0, 0, 3],
  );
  assert.equal(shared.toString(), "shared");
});

test("request-body.refused-while-reading: a failure while a piece is taken ends the reading, and the stream stays with its owner", async () => {
  const body = new PassThrough();
  const all = eachChunk(body, BOUND, () => Promise.reject(new Error("no room")));
  body.write("one");
  await assert.rejects(all, /no room/);
  assert.equal(body.destroyed, false);
  assert.equal(body.isPaused(), true);
});

test("request-body.max-audio-bytes: of a body one byte too large what is within the limit is taken, then it is refused, however it comes", async () => {
  for (const sizes of [[101], [100, 1], [60, 41]]) {
    const body = new PassThrough();
    let taken = 0;
    const all = eachChunk(body, BOUND, (chunk) => {
      taken += chunk.length;
    });
    for (const size of sizes) body.write(Buffer.alloc(size));
    await assert.rejects(all, /^Error: 101 bytes are too many$/);
    assert.equal(taken, 100);
  }
});

test("request-body.broken-off: a sender that breaks off is reported after the current piece was taken", async () => {
  const body = new PassThrough();
  const { promise, resolve } = Promise.withResolvers<void>();
  let done = false;
  const all = eachChunk(body, BOUND, async () => {
    await promise;
    done = true;
  });
  body.write("one");
  await turns();
  body.destroy();
  await turns();
  resolve();
  await assert.rejects(all, { code: "ERR_STREAM_PREMATURE_CLOSE" });
  assert.equal(done, true);
});

test("request-body.bounded-memory: a body that has arrived whole is taken at once and ends; where a byte is missing, nothing is", async () => {
  const body = new PassThrough();
  body.write("o");
  body.write("ne");
  assert.equal(takeWhole(body, 4), null);
  assert.equal(takeWhole(body, null), null);
  assert.equal(takeWhole(body, 3)?.toString(), "one");
  body.end();
  await turns();
  assert.equal(body.readableEnded, true);
});

/** Enough for a stream to have done all that it can do without us. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
