// What circuit breakers report, and how they are closed by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isWithin } from "../../src/directory/account-key.ts";
import { createCircuits } from "../../src/providers/health.ts";

test("routing.circuit-report: a circuit is reported as closed, open after five failures in a row, half open after the cooldown", () => {
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

test("routing.circuit-reset: a circuit that is closed by hand starts at zero: its next cooldown is the first one, and an earlier probe decides nothing", () => {
  let nowMs = 1_000_000;
  const circuits = createCircuits(() => nowMs);
  const fail = (times: number, key = "platform/a/m") => {
    for (let at = 0; at < times; at += 1) circuits.begin(key)("server_error");
  };
  const rest = () => {
    const [circuit] = circuits.report();
    return circuit?.restUntilMs === null || circuit === undefined ? null : circuit.restUntilMs - nowMs;
  };
  fail(5);
  nowMs += 30_000;
  const probe = circuits.begin("platform/a/m");
  circuits.close(isWithin("platform/a"));
  assert.deepEqual([rest(), circuits.isHealthy("platform/a/m")], [null, true]);
  probe("server_error");
  fail(3);
  assert.equal(rest(), null, "four failures");
  fail(1);
  assert.equal(rest(), 30_000);
});

test("routing.circuit-reset, routing.circuit-isolated: only the named account or model is closed, no other and not the sandbox of test keys", () => {
  const circuits = createCircuits(() => 1_000_000);
  const keys = ["platform/a/m", "platform/a/m/large", "platform/ab/m", "test/platform/a/m", "ws_1/a/m"];
  const resting = () => keys.filter((key) => !circuits.isHealthy(key));
  for (const key of keys) for (let at = 0; at < 5; at += 1) circuits.begin(key)("server_error");
  circuits.close(isWithin("platform/a/m/large"));
  assert.deepEqual(resting(), keys.toSpliced(1, 1));
  circuits.close(isWithin("platform/a"));
  assert.deepEqual(resting(), keys.slice(2));
});
