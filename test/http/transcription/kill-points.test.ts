// The short form of `npm run faults -- kill-points`: every moment once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KILL_POINTS, runKillPoints } from "../../faults/kill-points.ts";

test("idempotency.single-call, idempotency.crash: R1: killed at any moment of a keyed request, the retry never pays twice, and charges are completed answers", async () => {
  const report = await runKillPoints({ n: 1, seed: 1 });
  assert.deepEqual(report.violations, []);
  assert.deepEqual(Object.keys(report.byPoint).toSorted(), [...KILL_POINTS].toSorted());
});
