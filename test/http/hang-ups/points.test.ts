// The short form of `npm run faults -- hang-ups`: every moment once, without a clock (R15).
import assert from "node:assert/strict";
import { test } from "node:test";
import { POINTS } from "../../faults/hang-ups/points.ts";
import { runHangUps } from "../../faults/hang-ups/run-hang-ups.ts";

test("chat.caller-disconnect, realtime.caller-disconnect, transcription.hang-up: R15: a caller who disconnects at any moment of any kind of answer stops the provider, no other target is called, and the usage row is written", async () => {
  const { n, violations } = await runHangUps({ n: 1, seed: 1, limitMs: Number.POSITIVE_INFINITY });
  assert.deepEqual([n, violations], [POINTS.length, []]);
});
