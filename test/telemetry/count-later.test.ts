import assert from "node:assert/strict";
import { test } from "node:test";
import { countLater } from "../../src/telemetry/count-later.ts";

test("metrics.values: what happens without a scrape is counted 256 at a time, so that no more than that waits in memory, each once and in its order", () => {
  const counted: number[] = [];
  const later = countLater((seen: number) => counted.push(seen));
  const all = Array.from({ length: 600 }, (_, index) => index);
  for (const each of all.slice(0, 255)) later.push(each);
  assert.equal(counted.length, 0);
  for (const each of all.slice(255)) later.push(each);
  assert.equal(counted.length, 512);
  later.flush();
  later.flush();
  assert.deepEqual(counted, all);
});
