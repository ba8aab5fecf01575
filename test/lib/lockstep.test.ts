import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLockstep } from "../../src/lib/lockstep.ts";

test("what became ready in one turn of the loop takes each step side by side, in its order", async () => {
  const inLockstep = createLockstep();
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
