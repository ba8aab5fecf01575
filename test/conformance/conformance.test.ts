// The server does what the OpenAPI documents say [api.openapi]. `npm run conformance` runs longer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runConformance } from "./run-conformance.ts";

test("api.openapi, admin.openapi, errors.listed: every operation of both documents, asked well and badly, answers as its document says", async (t) => {
  // The same every time: what another seed would find must not fail an unrelated change.
  const seed = 20_261_121;
  const report = await runConformance({ seed, rounds: 1, isShort: true });
  t.diagnostic(`${report.requests} requests over ${report.operations} operations, seed ${seed}`);
  assert.deepEqual(report.violations, [], `seed ${seed}`);
  // A run that only meets refusals would prove little.
  assert.ok(report.neverGood.length < report.operations / 3, report.neverGood.join("\n"));
});
