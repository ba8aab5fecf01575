// Circuit breakers: when a circuit opens, for how long, and what does not count.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Circuits, createCircuits } from "../../src/providers/health.ts";
import type { FailureKind } from "../../src/providers/io.ts";

const KEY = "platform/dg/nova-3";

function startCircuits(): { readonly circuits: Circuits; readonly advance: (ms: number) => void } {
  let nowMs = 1_000_000;
  const circuits = createCircuits(() => nowMs);
  return {
    circuits,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

function call(circuits: Circuits, failure: FailureKind | null, key = KEY): void {
  circuits.begin(key)(failure);
}

test("routing.circuit-opens: five failures in a row open the circuit for 30 s; four do not", () => {
  const { circuits, advance } = startCircuits();
  for (let count = 0; count < 4; count += 1) call(circuits, "server_error");
  assert(circuits.isHealthy(KEY));
  call(circuits, "server_error");
  assert(!circuits.isHealthy(KEY));
  advance(29_999);
  assert(!circuits.isHealthy(KEY));
  advance(1);
  assert(circuits.isHealthy(KEY), "its time is up");
});

test("routing.circuit-probe, routing.circuit-duration: after the cooldown exactly one probe passes; its success closes the circuit, its failure makes the next cooldown twice as long", () => {
  const { circuits, advance } = startCircuits();
  for (let count = 0; count < 5; count += 1) call(circuits, "timeout");
  advance(30_000);
  const end = circuits.begin(KEY);
  assert(!circuits.isHealthy(KEY), "the probe is under way");
  end("server_error");
  advance(59_999);
  assert(!circuits.isHealthy(KEY));
  advance(1);
  call(circuits, null);
  assert(circuits.isHealthy(KEY));
  for (let count = 0; count < 4; count += 1) call(circuits, "server_error");
  assert(circuits.isHealthy(KEY), "the count started again");
});

test("routing.circuit-duration: many calls that fail at once open the circuit once: the cooldown is 30 s, however many there were", () => {
  const { circuits, advance } = startCircuits();
  const ends = Array.from({ length: 50 }, () => circuits.begin(KEY));
  for (const end of ends) end("timeout");
  advance(30_000);
  assert(circuits.isHealthy(KEY));
});

test("routing.circuit-probe: a call that began before the cooldown is no probe, however it ends", () => {
  for (const late of ["timeout", null] as const) {
    const { circuits, advance } = startCircuits();
    const end = circuits.begin(KEY);
    for (let count = 0; count < 5; count += 1) call(circuits, "timeout");
    advance(30_000);
    const endProbe = circuits.begin(KEY);
    end(late);
    assert(!circuits.isHealthy(KEY), "the probe is still under way");
    endProbe(null);
    assert(circuits.isHealthy(KEY));
  }
});

test("routing.circuit-probe: others wait for a probe no longer than the cooldown before it, because a live session may last for hours", () => {
  for (const late of ["timeout", null] as const) {
    const { circuits, advance } = startCircuits();
    for (let count = 0; count < 5; count += 1) call(circuits, "timeout");
    advance(30_000);
    const endLong = circuits.begin(KEY);
    advance(29_999);
    assert(!circuits.isHealthy(KEY), "the probe is under way");
    advance(1);
    assert(circuits.isHealthy(KEY), "another may try");
    const endSecond = circuits.begin(KEY);
    assert(!circuits.isHealthy(KEY), "but one alone");
    endSecond(null);
    assert(circuits.isHealthy(KEY));
    endLong(late);
    assert(circuits.isHealthy(KEY), "of a circuit that is closed it is a call like others");
  }
});

test("routing.circuit-probe: a probe that was overtaken closes an open circuit and lengthens no cooldown", () => {
  const { circuits, advance } = startCircuits();
  for (let count = 0; count < 5; count += 1) call(circuits, "timeout");
  advance(30_000);
  const ends = [circuits.begin(KEY)];
  advance(30_000);
  ends.push(circuits.begin(KEY));
  for (const end of ends) end("timeout");
  advance(59_999);
  assert(!circuits.isHealthy(KEY));
  advance(1);
  assert(circuits.isHealthy(KEY), "two probes failed, and the circuit opens again for one");
  const endLong = circuits.begin(KEY);
  advance(60_000);
  circuits.begin(KEY);
  endLong(null);
  for (let count = 0; count < 4; count += 1) call(circuits, "timeout");
  assert(circuits.isHealthy(KEY), "the count started again");
});

test("routing.circuit-duration: a cooldown is never longer than 300 s", () => {
  const { circuits, advance } = startCircuits();
  for (let count = 0; count < 5; count += 1) call(circuits, "connect");
  for (let opening = 0; opening < 20; opening += 1) {
    advance(300_000);
    assert(circuits.isHealthy(KEY));
    call(circuits, "connect");
  }
});

test("routing.circuit-opens: half of at least 20 calls in 10 s opens it, also without five in a row", () => {
  const { circuits, advance } = startCircuits();
  for (let count = 0; count < 9; count += 1) {
    call(circuits, null);
    call(circuits, "rate_limited");
  }
  assert(circuits.isHealthy(KEY), "18 calls are too few to judge");
  call(circuits, null);
  call(circuits, "rate_limited");
  assert(!circuits.isHealthy(KEY));
  const slow = startCircuits();
  for (let count = 0; count < 40; count += 1) {
    call(slow.circuits, count % 2 === 0 ? null : "server_error");
    slow.advance(1_000);
  }
  assert(slow.circuits.isHealthy(KEY), "spread over more than 10 s");
  advance(0);
});

test("routing.circuit-failures: refused input, missing features and callers that hang up say nothing about a provider's health", () => {
  const { circuits } = startCircuits();
  for (const kind of ["rejected", "unauthorized", "payment", "not_found", "feature_dropped", "aborted"] as const) {
    for (let count = 0; count < 10; count += 1) call(circuits, kind);
    assert(circuits.isHealthy(KEY), kind);
  }
});

test("routing.circuit-isolated: one account's failures never make a provider unavailable for another account", () => {
  const { circuits } = startCircuits();
  for (let count = 0; count < 5; count += 1) call(circuits, "server_error", "ws_1/dg/nova-3");
  assert(!circuits.isHealthy("ws_1/dg/nova-3"));
  assert(circuits.isHealthy(KEY));
});

test("routing.circuit-opens: of a busy window the last hundred calls decide: half of them failed opens the circuit, whatever succeeded before", () => {
  const { circuits } = startCircuits();
  for (let count = 0; count < 350; count += 1) call(circuits, null);
  // Never five failures in a row: 49 in the first 61 calls.
  for (let count = 1; count <= 61; count += 1) call(circuits, count % 5 === 0 ? null : "server_error");
  assert(circuits.isHealthy(KEY));
  call(circuits, "server_error");
  assert(!circuits.isHealthy(KEY));
});
