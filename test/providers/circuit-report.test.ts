// What circuits tell of themselves (contract 10, provider health; reliability 7).
import assert from "node:assert/strict";
import { test } from "node:test";
import { createCircuits } from "../../src/providers/health.ts";

test("reliability 7: a circuit is told as closed, open after five failures in a row, half open when its rest is over", () => {
  let nowMs = 1_000_000;
  const circuits = createCircuits(() => nowMs);
  const call = (key: string, failure: "server_error" | null) => {
    circuits.begin(key)(failure);
  };
  assert.deepEqual(circuits.report(), []);
  call("platform/b/model/with/slashes", null);
  for (let at = 0; at < 5; at += 1) call("platform/a/m", "server_error");
  const [failing, fine] = circuits.report();
  assert.deepEqual(
    [failing?.key, failing?.state, failing?.openings, failing?.calls, failing?.failures, failing?.restUntilMs],
    ["platform/a/m", "open", 1, 5, 5, nowMs + 30_000],
  );
  assert.deepEqual([fine?.key, fine?.state, fine?.restUntilMs], ["platform/b/model/with/slashes", "closed", null]);
  nowMs += 30_000;
  const [rested] = circuits.report();
  assert.deepEqual([rested?.state, rested?.calls], ["half_open", 0]);
  call("platform/a/m", null);
  assert.deepEqual([circuits.report()[0]?.state, circuits.report()[0]?.openings], ["closed", 0]);
});
