// Items on their way to a store: who waits for room waits for a batch, not for all of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createWriteBehind } from "../../src/lib/concurrency/write-behind.ts";

function byHand() {
  const writes: (PromiseWithResolvers<void> & { readonly items: readonly number[] })[] = [];
  const queue = createWriteBehind<number>({
    maxBatch: 2,
    write: (items) => {
      const write = { ...Promise.withResolvers<void>(), items };
      writes.push(write);
      return write.promise;
    },
    isItemFault: () => false,
    onSkipped: () => assert.fail("nothing is skipped"),
  });
  return { writes, queue };
}

test("metering.lease-unwritten-bound: a caller that waits for the next batch waits until it is written, while those after it are in progress", async () => {
  const { writes, queue } = byHand();
  for (const item of [1, 2, 3, 4, 5]) queue.push(item);
  const written = queue.nextWrite();
  await turn();
  writes[0]?.resolve();
  await written;
  assert.deepEqual([queue.size(), queue.isWriting()], [3, true]);
  const second = queue.nextWrite();
  await turn();
  writes[1]?.resolve();
  await second;
  writes[2]?.resolve();
  await queue.flush();
  assert.deepEqual(
    writes.map(({ items }) => items),
    [[1, 2], [3, 4], [5]],
  );
});

test("metering.lease-unwritten-bound: a caller that waits for a batch that could not be written gets its error, and the next call tries it again", async () => {
  const { writes, queue } = byHand();
  queue.push(1);
  const failing = queue.nextWrite();
  await turn();
  writes[0]?.reject(new Error("the database is unavailable"));
  await assert.rejects(failing, /the database is unavailable/u);
  const again = queue.nextWrite();
  await turn();
  writes[1]?.resolve();
  await again;
  assert.deepEqual([writes[1]?.items, queue.size()], [[1], 0]);
});

test("metering.lease-unwritten-bound: where nothing is to be written there is no wait", async () => {
  await byHand().queue.nextWrite();
});
