// The short form of `npm run faults -- kill-points`: every moment once (reliability I-02; spec 4.1.2, 4.1.4).
import assert from "node:assert/strict";
import { test } from "node:test";
import { KILL_POINTS, runKillPoints } from "../../faults/kill-points.ts";

test("R1: killed at any moment of a keyed request, the retry never pays twice, and charges are completed answers", async () => {
  const report = await runKillPoints({ n: 1, seed: 1 });
  assert.deepEqual(report.violations, []);
  assert.deepEqual(Object.keys(report.byPoint).toSorted(), [...KILL_POINTS].toSorted());
});
