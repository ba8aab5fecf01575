// Values and depth of JSON are counted from its bytes, however they are split.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { JsonMeter, MAX_JSON_DEPTH, measureJson } from "../../src/lib/json/json-meter.ts";

function meterOf(text: string, pieceBytes = Number.POSITIVE_INFINITY): JsonMeter {
  const meter = new JsonMeter();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) meter.add(bytes.subarray(at, at + pieceBytes));
  return meter;
}

function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, each) => sum + valuesIn(each), 0);
}

test("api.hostile-json: R17, the count is never below what is parsed, whatever is in strings and wherever it is split", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 1, max: 7 }), (value, pieceBytes) => {
      const text = JSON.stringify(value, null, 1);
      const { values } = meterOf(text, pieceBytes);
      assert.ok(values >= valuesIn(JSON.parse(text)), text);
      assert.equal(values, meterOf(text).values);
    }),
    { numRuns: 500 },
  );
});

test("api.hostile-json: R17, what is in a string counts as no value", () => {
  assert.equal(meterOf(JSON.stringify(`a,b:[{"\\${",".repeat(1_000)}`), 3).values, 1);
});

test("api.hostile-json: R17, lists of small values are counted one by one, and depth is bounded", () => {
  assert.ok(meterOf(`[${"{},".repeat(1_000)}{}]`).values > 1_000);
  assert.equal(meterOf("[".repeat(MAX_JSON_DEPTH)).isTooDeep, false);
  assert.equal(meterOf("[".repeat(MAX_JSON_DEPTH + 1)).isTooDeep, true);
  assert.equal(measureJson(`[${"1,".repeat(3_000)}1]`, 2_000), "too_many_values");
  assert.equal(measureJson("[".repeat(5_000), 9_000), "too_deep");
  assert.equal(measureJson("[".repeat(100), 5_000), "light");
});
