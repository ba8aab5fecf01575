import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLoopUtilization } from "../../src/lib/concurrency/loop-utilization.ts";
import { createTickBatcher } from "../../src/lib/concurrency/tick-batcher.ts";

test("api.tick-batching: what became ready in one turn of the loop takes each step together, in its order", async () => {
  const inLockstep = createTickBatcher();
  const steps: string[] = [];
  const take = async (name: string): Promise<void> => {
    for (const step of [1, 2, 3]) {
      steps.push(`${name}${step}`);
      await Promise.resolve();
    }
  };
  inLockstep(() => void take("a"));
  inLockstep(() => void take("b"));
  assert.deepEqual(steps, []);
  await turn();
  inLockstep(() => void take("c"));
  await turn();
  assert.deepEqual(steps, ["a1", "b1", "a2", "b2", "a3", "b3", "c1", "c2", "c3"]);
});

test("api.tick-batching: work is held back while others are in progress, for a bounded time", async () => {
  let mayWait = true;
  const inLockstep = createTickBatcher({ mayWait: () => mayWait });
  const done: string[] = [];
  const turns = async (count: number): Promise<void> => {
    for (let passed = 0; passed < count; passed += 1) await turn();
  };
  inLockstep(() => done.push("a"));
  await turns(5);
  inLockstep(() => done.push("b"));
  assert.equal(done.length, 0);
  mayWait = false;
  await turns(1);
  assert.deepEqual(done, ["a", "b"]);
  mayWait = true;
  inLockstep(() => done.push("c"));
  await turns(32);
  assert.deepEqual(done, ["a", "b"]);
  await turns(1);
  assert.deepEqual(done, ["a", "b", "c"]);
});

test("api.tick-batching: a group is of two while the loop has time left, and of sixteen when it is busy", async () => {
  let utilization = 0.7;
  const inGroups = createTickBatcher({ utilization: () => utilization });
  let done = 0;
  for (let count = 0; count < 40; count += 1) inGroups(() => (done += 1));
  await turn();
  assert.equal(done, 2);
  await turn();
  assert.equal(done, 4);
  utilization = 0.71;
  await turn();
  assert.equal(done, 20);
  await turn();
  assert.equal(done, 36);
  await turn();
  assert.equal(done, 40);
});

test("api.tick-batching: all that was held runs together at the end of the bound, so that none of it is held again", async () => {
  for (const isWhole of [false, true]) {
    const inGroups = createTickBatcher({ mayWait: () => true, utilization: () => 0, isWhole });
    let done = 0;
    for (let count = 0; count < 40; count += 1) inGroups(() => (done += 1));
    for (let passed = 0; passed < 32; passed += 1) await turn();
    assert.equal(done, 0);
    await turn();
    assert.equal(done, 40);
  }
});

test("api.tick-batching: what shall not be grouped runs in one turn", async () => {
  const inLockstep = createTickBatcher({ utilization: () => 0, isWhole: true });
  let done = 0;
  for (let count = 0; count < 40; count += 1) inLockstep(() => (done += 1));
  await turn();
  assert.equal(done, 40);
});

test("api.tick-batching: the utilization is that of this thread's loop", async () => {
  const utilization = createLoopUtilization();
  const inGroups = createTickBatcher();
  let done = 0;
  // The second time nothing but work lies behind.
  for (let time = 0; time < 2; time += 1) {
    inGroups(() => (done += 1));
    workFor(60);
    await turn();
  }
  assert.ok(utilization() > 0.9);
  for (let count = 0; count < 40; count += 1) inGroups(() => (done += 1));
  await turn();
  assert.equal(done, 18);
});

function workFor(milliseconds: number): void {
  const endMs = performance.now() + milliseconds;
  while (performance.now() < endMs);
}
