// The short form of `npm run faults -- hang-ups`: every moment once, without a clock (promise R15; contract 3, 7, 9, 10).
import assert from "node:assert/strict";
import { test } from "node:test";
import { POINTS } from "../../faults/hang-ups/points.ts";
import { runHangUps } from "../../faults/hang-ups/run-hang-ups.ts";

test("R15: a caller who vanishes at any moment of any way of answering stops the provider, nothing more is asked, and the usage row is written", async () => {
  const { n, violations } = await runHangUps({ n: 1, seed: 1, limitMs: Number.POSITIVE_INFINITY });
  assert.deepEqual([n, violations], [POINTS.length, []]);
});
