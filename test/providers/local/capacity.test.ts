import assert from "node:assert/strict";
import { test } from "node:test";
import { createCapacity } from "../../../src/providers/local/capacity.ts";

const NEVER = new AbortController().signal;

test("local.queue: audio is admitted up to the bound, and one recording of any length while nothing else is", () => {
  const capacity = createCapacity(100);
  const long = capacity.admit(5_000);
  assert.ok(long !== null);
  assert.equal(capacity.admit(1), null);
  long.release();
  assert.ok(capacity.admit(60) !== null);
  assert.ok(capacity.admit(40) !== null);
  assert.equal(capacity.admit(0.1), null);
});

test("local.queue: what is recognised makes room, and what is released does not count twice", () => {
  const capacity = createCapacity(100);
  const first = capacity.admit(100);
  first?.done(30);
  assert.equal(capacity.admittedSeconds(), 70);
  assert.ok(capacity.admit(30) !== null);
  first?.done(90);
  first?.release();
  first?.release();
  assert.equal(capacity.admittedSeconds(), 30);
});

test("local.retry-after: the wait follows from the measured speed", () => {
  const capacity = createCapacity(1_000);
  capacity.admit(600);
  assert.equal(capacity.retryAfterSeconds(), 120);
  capacity.measured(60, 1_000);
  assert.equal(capacity.speed(), 60);
  assert.equal(capacity.retryAfterSeconds(), 10);
});

test("local.retry-after: audio of jobs that wait counts, because a request does not overtake it", () => {
  const capacity = createCapacity(1_000);
  capacity.measured(60, 1_000);
  capacity.admit(600);
  void capacity.wait(3_000, NEVER);
  assert.equal(capacity.admit(1), null);
  assert.equal(capacity.retryAfterSeconds(), 60);
});

test("local.jobs-wait: waiters are admitted in order of arrival, and one that is aborted makes room for the next", async () => {
  const capacity = createCapacity(100);
  const running = capacity.admit(100);
  const order: string[] = [];
  const stop = new AbortController();
  const first = capacity.wait(80, NEVER).then((admission) => (order.push("first"), admission));
  const second = capacity.wait(80, stop.signal);
  const third = capacity.wait(20, NEVER).then((admission) => (order.push("third"), admission));
  assert.equal(capacity.admit(1), null, "no one overtakes those who wait");
  stop.abort(new Error("stopped"));
  await assert.rejects(second, /stopped/u);
  running?.release();
  await Promise.all([first, third]);
  assert.deepEqual(order, ["first", "third"]);
});
