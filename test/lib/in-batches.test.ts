// Housekeeping in batches: a process that stops waits for the one in progress only.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBatches } from "../../src/lib/concurrency/run-in-batches.ts";

test("jobs.purge-progress: R14, what is due is done batch by batch, until one is not full", async () => {
  const batches = [5, 5, 2, 5];
  assert.equal(await runInBatches(5, async () => batches.shift() ?? 0), 12);
  assert.deepEqual(batches, [5]);
});

test("api.drain-background: R14, a stop waits for the batch in progress, and for none after it", async () => {
  const stop = new AbortController();
  let batches = 0;
  const work = async (): Promise<number> => {
    batches += 1;
    stop.abort();
    return 5;
  };
  assert.equal(await runInBatches(5, work, stop.signal), 5);
  assert.equal(await runInBatches(5, work, stop.signal), 0);
  assert.equal(batches, 1);
});
