import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoopUtilization } from "../../src/lib/concurrency/loop-utilization.ts";

test("api.tick-batching: the utilization of the loop is that of the last 50 ms or more, not of its whole life", () => {
  const total = { idle: 1_000, active: 9_000 };
  const pass = (idle: number, active: number): void => {
    total.idle += idle;
    total.active += active;
  };
  const utilization = createLoopUtilization(() => ({ ...total, utilization: 0.9 }));
  assert.equal(utilization(), 0);
  pass(30, 19);
  assert.equal(utilization(), 0);
  pass(0, 1);
  assert.equal(utilization(), 0.4);
  pass(5, 40);
  assert.equal(utilization(), 0.4);
  pass(5, 50);
  assert.equal(utilization(), 0.9);
});
