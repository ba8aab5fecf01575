// The status of a model by the clock, as a table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lifeStatus, statusText, vendorRetirement } from "../../src/providers/life-status.ts";
import type { ModelLife } from "../../src/providers/model-life.ts";

const KNOWN = { verifiedOn: "2026-11-13", source: "the page" } as const;
const VENDOR = { date: "2027-02-26", evidence: "vendor" } as const;

for (const [life, now, expected] of [
  [{}, "2030-01-01T00:00:00Z", "current"],
  [{ deprecatedOn: "2026-08-26" }, "2026-08-25T23:59:59Z", "current"],
  [{ deprecatedOn: "2026-08-26" }, "2026-08-26T00:00:00Z", "deprecated"],
  [{ redirect: { ...VENDOR, model: "newer" } }, "2026-11-26T00:00:00Z", "deprecated"],
  [{ deprecatedOn: "2026-08-26", endsOn: VENDOR }, "2026-11-26T12:00:00Z", "ends in 92 days"],
  [{ endsOn: VENDOR }, "2027-02-25T00:00:00Z", "ends in 1 day"],
  [{ endsOn: VENDOR }, "2027-02-25T23:59:59Z", "ends in 1 day"],
  [{ endsOn: VENDOR }, "2027-02-26T00:00:00Z", "retired"],
  [{ endsOn: { ...VENDOR, evidence: "second_hand" } }, "2027-02-26T00:00:00Z", "retired"],
] satisfies readonly (readonly [Partial<ModelLife>, string, string])[]) {
  test(`providers.model-status: ${JSON.stringify(life)} is ${expected} at ${now}`, () => {
    assert.equal(statusText(lifeStatus({ ...KNOWN, ...life }, Date.parse(now))), expected);
  });
}

test("routing.retired-second-hand, routing.retired-reason: only the provider's own evidence retires, with the source of the end or of the model", () => {
  const after = Date.parse(VENDOR.date);
  assert.equal(vendorRetirement(undefined, after), null);
  assert.equal(vendorRetirement({ ...KNOWN, endsOn: { ...VENDOR, evidence: "second_hand" } }, after), null);
  assert.equal(vendorRetirement({ ...KNOWN, endsOn: VENDOR }, after - 1), null);
  assert.deepEqual(vendorRetirement({ ...KNOWN, endsOn: VENDOR }, after), { date: VENDOR.date, source: "the page" });
  const own = vendorRetirement({ ...KNOWN, endsOn: { ...VENDOR, source: "the list" } }, after);
  assert.equal(own?.source, "the list");
});
