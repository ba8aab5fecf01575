// When settlements of leases are written: together, soon, and again after a failure [metering.lease-batching] [metering.lease-settle-isolation].
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { createSettleQueue } from "../../src/metering/settle-queue.ts";
import { leasedAttempt } from "../../src/metering/settle-leased.ts";
import { until } from "../harness/until.ts";
import { chatReservation, chatSettlement } from "./chat-reservation.ts";

/** Of fewer than 32 settlements. */
const LINGER_MS = 200;
const STEP_MS = 50;
const SMALL_BATCH = 32;
const RETRY_MS = 1_000;
const MAX_BATCH = 500;

beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
afterEach(() => mock.timers.reset());

const TENANT = { workspaceId: newId("workspace"), appId: newId("app") };

function attempt() {
  const reservation = chatReservation(TENANT, 1);
  const lease = { leaseId: newId("lease"), tokens: 1n, reservedAtMs: 0 };
  return leasedAttempt(reservation, chatSettlement(reservation, 1), lease, JSON.stringify);
}

/** Writes end as the test says. */
function open() {
  const writes: PromiseWithResolvers<void>[] = [];
  const errors: unknown[] = [];
  const queue = createSettleQueue(
    () => {
      const write = Promise.withResolvers<void>();
      writes.push(write);
      return write.promise;
    },
    (error) => errors.push(error),
  );
  return { queue, writes, errors };
}

/** What is ready to run has run. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};
/** In steps, because each wait begins when the one before it has ended. */
const pass = async (ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= STEP_MS) {
    mock.timers.tick(Math.min(left, STEP_MS));
    await settled();
  }
};

test("metering.lease-batching: a few settlements wait 200 ms for others, which are written with them", async () => {
  const { queue, writes, errors } = open();
  queue.push(attempt());
  await pass(LINGER_MS - 1);
  queue.push(attempt());
  assert.deepEqual([writes.length, queue.size()], [0, 2]);
  await pass(1);
  assert.equal(writes.length, 1);
  writes[0]?.resolve();
  await settled();
  assert.deepEqual([queue.size(), errors], [0, []]);
  await pass(10 * RETRY_MS);
  assert.equal(writes.length, 1, "nothing is left to write");
  queue.push(attempt());
  await pass(LINGER_MS);
  assert.equal(writes.length, 2, "the next one is written as the first was");
});

test("metering.lease-batching: settlements that arrive during a write wait for its end, and 200 ms more for others", async () => {
  const { queue, writes } = open();
  queue.push(attempt());
  await pass(LINGER_MS);
  queue.push(attempt());
  await pass(10 * LINGER_MS);
  assert.equal(writes.length, 1);
  writes[0]?.resolve();
  await settled();
  await pass(LINGER_MS - 1);
  assert.deepEqual([writes.length, queue.size()], [1, 1]);
  await pass(1);
  writes[1]?.resolve();
  await settled();
  assert.deepEqual([writes.length, queue.size()], [2, 0]);
});

test("metering.lease-batching: 32 settlements wait 50 ms for others", async () => {
  const { queue, writes } = open();
  for (let n = 0; n < SMALL_BATCH; n += 1) queue.push(attempt());
  await pass(STEP_MS - 1);
  assert.equal(writes.length, 0);
  await pass(1);
  assert.equal(writes.length, 1);
});

test("metering.lease-batching: a write takes at most 500 settlements, so that its statement is bounded", async () => {
  for (const [count, expected] of [
    [MAX_BATCH, 1],
    [MAX_BATCH + 1, 2],
  ] as const) {
    const { queue, writes } = open();
    for (let n = 0; n < count; n += 1) queue.push(attempt());
    const flushed = queue.flush();
    for (let n = 0; n < expected; n += 1) {
      await until(() => writes.length === n + 1);
      writes[n]?.resolve();
    }
    await flushed;
    assert.deepEqual([writes.length, queue.size()], [expected, 0]);
  }
});

test("metering.lease-settle-isolation: a write that fails is reported, kept and made again a second later", async () => {
  const { queue, writes, errors } = open();
  const failure = new Error("the database is unavailable");
  queue.push(attempt());
  await pass(LINGER_MS);
  writes[0]?.reject(failure);
  await settled();
  assert.deepEqual([errors, queue.size()], [[failure], 1]);
  await pass(RETRY_MS - 1);
  assert.equal(writes.length, 1);
  await pass(1);
  assert.equal(writes.length, 2);
  writes[1]?.resolve();
  await settled();
  assert.equal(queue.size(), 0);
});

test("metering.lease-settle-isolation: a caller who waits for the write gets its failure", async () => {
  const { queue, writes, errors } = open();
  queue.push(attempt());
  const flushed = queue.flush();
  await settled();
  writes[0]?.reject(new Error("the database is unavailable"));
  await assert.rejects(flushed, /unavailable/u);
  assert.deepEqual([errors, queue.size()], [[], 1]);
});
