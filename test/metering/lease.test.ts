// A lease as its process knows it: what may be taken, until when, and when more of it, or another one, is due.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { Lease } from "../../src/metering/lease.ts";

let nowMs: number;
let lease: Lease;
beforeEach(() => {
  nowMs = 500;
  lease = new Lease(newId("lease"), 1_000, () => nowMs);
});

const slice = (nanoUsd: number, tokens: number) => ({ nanoUsd: BigInt(nanoUsd), tokens: BigInt(tokens) });

test("metering.lease-accounting: a call takes what fits in money and in tokens, to the last of both; what it did not use returns", () => {
  assert.equal(lease.take(slice(1, 0)), false, "nothing was granted yet");
  lease.grow(slice(10, 20), slice(1, 1));
  assert.equal(lease.take(slice(11, 1)), false);
  assert.equal(lease.take(slice(1, 21)), false);
  assert.equal(lease.take(slice(10, 20)), true);
  assert.deepEqual(lease.left, slice(0, 0));
  lease.put(slice(4, 6));
  assert.deepEqual(lease.left, slice(4, 6));
  assert.deepEqual([lease.empty(), lease.left], [slice(4, 6), slice(0, 0)]);
});

test("metering.lease-idle-return: a lease runs while one of its calls does, and is idle a fixed time after the last was begun", () => {
  lease.grow(slice(10, 10), slice(1, 1));
  assert.equal(lease.isIdle(100), false);
  nowMs = 600;
  assert.deepEqual([lease.isRunning, lease.isIdle(100)], [false, true]);
  for (let calls = 0; calls < 2; calls += 1) lease.take(slice(1, 1));
  assert.deepEqual([lease.isRunning, lease.isIdle(0)], [true, false]);
  lease.put(slice(0, 0));
  assert.equal(lease.isRunning, true, "the other one");
  lease.put(slice(0, 0));
  assert.equal(lease.isRunning, false);
  nowMs = 699;
  assert.equal(lease.isIdle(100), false);
  nowMs = 700;
  assert.equal(lease.isIdle(100), true);
});

test("metering.lease-lifetime: the time in which a lease may be spent ends to the millisecond, and is nearly over after nine tenths", () => {
  for (const [ms, isEnding, isUsable] of [
    [1_399, false, true],
    [1_400, true, true],
    [1_499, true, true],
    [1_500, true, false],
  ] as const) {
    nowMs = ms;
    assert.deepEqual([lease.isEnding(), lease.isUsable()], [isEnding, isUsable], `${ms} ms`);
  }
});

test("metering.lease-refill: the next slice is due, once, when half of what a slice left is spent, in money or in tokens, or when its time ends", () => {
  const [need, spare] = [slice(10, 10), slice(40, 80)];
  const begin = () => {
    lease = new Lease(newId("lease"), 1_000, () => nowMs);
    lease.grow(slice(50, 90), need);
    lease.take(need);
    assert.deepEqual([lease.left, lease.isDue], [spare, false]);
  };
  for (const half of [slice(20, 0), slice(0, 40)]) {
    begin();
    lease.take(half);
    assert.equal(lease.isDue, false, "half of it is left");
    lease.take(half.nanoUsd > 0n ? slice(1, 0) : slice(0, 1));
    assert.equal(lease.isDue, true);
    lease.asked();
    assert.equal(lease.isDue, false);
  }
  begin();
  nowMs += 900;
  assert.equal(lease.isDue, true);
});

test("metering.lease-refill: nothing is due of a slice in which no further call of its kind would fit", () => {
  for (const left of [slice(19, 100), slice(100, 19)]) {
    lease = new Lease(newId("lease"), 1_000, () => nowMs);
    lease.grow(left, slice(10, 10));
    lease.take(slice(10, 10));
    lease.take(lease.left);
    assert.equal(lease.isDue, false);
    nowMs += 1_000;
    assert.equal(lease.isDue, false);
  }
  lease.grow(slice(20, 20), slice(10, 10));
  lease.take(slice(20, 20));
  assert.equal(lease.isDue, true, "exactly one more would");
});
