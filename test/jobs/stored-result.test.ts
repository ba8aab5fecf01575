// A stored result's envelope is taken as the bytes that were written, whatever the pieces it is read in.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_RESULT_READS, type ResultRow, withinResultReads } from "../../src/jobs/read/read-result-in-pieces.ts";
import { storedForm, takeEnvelope } from "../../src/jobs/read/stored-result-format.ts";
import type { AnswerRoom } from "../../src/lib/answer-room.ts";
import { createKeyedSemaphore } from "../../src/lib/concurrency/keyed-semaphore.ts";

const ENVELOPE = JSON.stringify({
  content: 'Ä ,"kept":{"content":"no"} \\ "',
  warnings: [{ code: "X", details: { kept: { content: "no" } } }],
});
const OLD_ENVELOPE = JSON.stringify({ content: 'Ä ,"kept":{"content":"no"} \\ "', segments: [] });
const KEPT = JSON.stringify({ content: "Ä", segments: [], words: [] });

const FORMS = {
  "with the envelope's length": [storedForm(Buffer.from(ENVELOPE), Buffer.from(KEPT)), ENVELOPE],
  "of an earlier version": [Buffer.from(`{"envelope":${OLD_ENVELOPE},"kept":${KEPT}}`), OLD_ENVELOPE],
} as const;

for (const [name, [stored, envelope]] of Object.entries(FORMS)) {
  test(`jobs.result-url: the envelope of a stored result ${name} comes byte for byte, in pieces of any length`, async () => {
    for (let length = 1; length <= stored.length; length += 1) {
      const room = countingRoom();
      const taken = await takeEnvelope(cut(stored, length), room);
      assert.equal(taken.toString(), envelope, `pieces of ${length}`);
      assert.ok(room.reservedBytes() <= envelope.length + 64);
    }
    assert.deepEqual(JSON.parse(stored.toString()).kept, JSON.parse(KEPT));
  });
}

test("jobs.result-memory: R17, an envelope that memory has no room for is not read any further", async () => {
  const [stored] = FORMS["with the envelope's length"];
  let read = 0;
  const pieces = async function* () {
    for await (const piece of cut(stored, 80)) {
      read += 1;
      yield piece;
    }
  };
  const full: AnswerRoom = {
    signal: new AbortController().signal,
    reserve: () => {
      throw new Error("full");
    },
  };
  await assert.rejects(takeEnvelope(pieces(), full), /full/u);
  assert.equal(read, 1);
});

test("jobs.result-memory: R17, a small result is read at once while large ones of its workspace wait for one another", async () => {
  const services = { resultReads: createKeyedSemaphore(MOST_RESULT_READS) };
  const room = countingRoom();
  const never = new Promise<never>(() => undefined);
  let begun = 0;
  for (let count = 0; count < 5; count += 1) {
    void withinResultReads(services, row({ result_bytes: 8_000_000 }), room, () => {
      begun += 1;
      return never;
    });
  }
  const small = row({ result: Buffer.alloc(10), result_bytes: 10 });
  assert.equal(await withinResultReads(services, small, room, async () => "small"), "small");
  assert.equal(await withinResultReads(services, row({}), room, async () => "none"), "none");
  assert.equal(begun, MOST_RESULT_READS.perOwner);
  const other = { ...row({ result_key: "results/a/1" }), workspace_id: "ws_other" };
  assert.equal(
    await withinResultReads(services, other, room, async () => "another workspace's"),
    "another workspace's",
  );
});

function row(result: Partial<ResultRow>): ResultRow {
  const none = { result: null, result_bytes: null, result_key: null };
  return { id: "job_1", workspace_id: "ws_1", ...none, ...result };
}

function countingRoom(): AnswerRoom & { reservedBytes(): number } {
  let reserved = 0;
  return {
    signal: new AbortController().signal,
    reserve: (bytes) => {
      reserved += bytes;
    },
    reservedBytes: () => reserved,
  };
}

/** Each in memory of its own, as they are read: what takes them may free it. */
async function* cut(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += length) {
    const piece = Buffer.allocUnsafeSlow(Math.min(length, bytes.length - from));
    bytes.copy(piece, 0, from);
    yield piece;
  }
}
