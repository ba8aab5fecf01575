// The sliding window and what is taken from it, as pure functions (docs/decisions/0015).
import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as assertProperty, integer, property, tuple } from "fast-check";
import { brand, newId } from "../../src/contract/ids.ts";
import type { Limit } from "../../src/quotas/counters.ts";
import { drawPlaces, drawWindow, PLACE_LEASE_MS } from "../../src/quotas/grant-quota.ts";
import { addTo, msUntilFree, removeFrom, type Slots, slotsAt, sumOf } from "../../src/quotas/window.ts";

const MINUTE_MS = 60_000;
const limitOf = (limit: number): Limit => ({
  workspaceId: brand("workspace", newId("workspace")),
  holderId: "key_1",
  unit: "requests",
  limit,
  periodMs: MINUTE_MS,
});

test("quotas.sliding-window: whatever is asked when, no 59.5 seconds see more than the quota of a minute", () => {
  assertProperty(
    property(
      integer({ min: 1, max: 50 }),
      array(tuple(integer({ min: 0, max: 5_000 }), integer({ min: 1, max: 10 })), { maxLength: 200 }),
      (quota, asks) => {
        let nowMs = 1_790_000_000_000;
        let state: unknown = null;
        const limit = limitOf(quota);
        const taken: { atMs: number; amount: number }[] = [];
        for (const [laterMs, amount] of asks) {
          nowMs += laterMs;
          const ask = { limit, own: 0, amounts: [amount], inAdvance: 0, returned: 0, owed: 0 };
          const drawn = drawWindow(state, ask, nowMs);
          ({ state } = drawn);
          const [waitMs] = drawn.drawn.waitsMs;
          assert(waitMs !== undefined);
          if (waitMs === null) taken.push({ atMs: nowMs, amount });
          else assert(waitMs > 0 && waitMs <= MINUTE_MS);
        }
        for (const { atMs } of taken) {
          const sum = taken
            .filter((other) => other.atMs <= atMs && other.atMs > atMs - 59_500)
            .reduce((total, other) => total + other.amount, 0);
          assert(sum <= quota, `${sum} of ${quota}`);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("quotas.retry-after: a request that comes back after its wait finds room, and not a slot sooner", () => {
  let slots: Slots = addTo([], 5, 1_234, MINUTE_MS);
  slots = addTo(slots, 3, 20_000, MINUTE_MS);
  slots = addTo(slots, 2, 20_300, MINUTE_MS);
  const nowMs = 30_000;
  for (const [amount, slot] of [
    [5, 1_000],
    [6, 20_000],
    [10, 20_000],
  ] as const) {
    const waitMs = msUntilFree(slots, amount, nowMs, MINUTE_MS);
    assert.equal(waitMs, slot + MINUTE_MS - nowMs);
    assert(sumOf(slotsAt(slots, nowMs + waitMs, MINUTE_MS)) <= 10 - amount);
    assert(sumOf(slotsAt(slots, nowMs + waitMs - 1, MINUTE_MS)) > 10 - amount);
  }
  assert.equal(msUntilFree(slots, 11, nowMs, MINUTE_MS), MINUTE_MS);
});

test("quotas.clock-set-back: a clock that is set back by an hour blocks no one for longer than the period", () => {
  let slots: Slots = addTo([], 10, 3_600_000 * 10, MINUTE_MS);
  slots = slotsAt(slots, 3_600_000 * 9, MINUTE_MS);
  assert.equal(sumOf(slots), 10);
  assert(msUntilFree(slots, 10, 3_600_000 * 9, MINUTE_MS) <= MINUTE_MS);
  assert.equal(sumOf(slotsAt(slots, 3_600_000 * 9 + MINUTE_MS, MINUTE_MS)), 0);
});

test("quotas.unused-returned: unused amounts are returned from the youngest slot", () => {
  let slots: Slots = addTo([], 5, 0, MINUTE_MS);
  slots = addTo(slots, 3, 10_000, MINUTE_MS);
  assert.deepEqual(removeFrom(slots, 4), [[0, 4]]);
  assert.deepEqual(removeFrom(slots, 100), []);
});

test("quotas.advance-bounded: what waits is granted as far as there is room, and at most a 64th of what is left in advance", () => {
  const limit = limitOf(1_000);
  const ask = { limit, own: 0, amounts: [1, 1], inAdvance: 500, returned: 0, owed: 0 };
  const first = drawWindow(null, ask, 0);
  assert.deepEqual(first.drawn, { granted: 2 + 15, inAdvance: 15, waitsMs: [null, null] });
  const nearlyEmpty = addTo([], 999, 0, MINUTE_MS);
  const last = drawWindow(nearlyEmpty, ask, 0);
  assert.deepEqual(last.drawn, { granted: 1, inAdvance: 0, waitsMs: [null, MINUTE_MS] });
  assert.equal(sumOf(last.state), 1_000);
  const returned = drawWindow(last.state, { ...ask, amounts: [], inAdvance: 0, returned: 30 }, 0);
  assert.equal(sumOf(returned.state), 970);
});

test("quotas.overuse-counted: what was used beyond what was taken counts whatever room there is, and leaves with its minute", () => {
  const limit = limitOf(100);
  const ask = { limit, own: 0, amounts: [1], inAdvance: 0, returned: 0, owed: 250 };
  const { state, drawn } = drawWindow(null, ask, 0);
  assert.deepEqual(drawn, { granted: 0, inAdvance: 0, waitsMs: [MINUTE_MS] });
  assert.equal(sumOf(state), 250);
  assert.equal(drawWindow(state, { ...ask, owed: 0 }, MINUTE_MS).drawn.granted, 1);
});

test("quotas.concurrent-crash: places of a process that is silent for 30 s are free, and no sooner", () => {
  const limit = { ...limitOf(5), unit: "concurrent" as const };
  const one = drawPlaces(null, { limit, held: 0, wanted: 4 }, { process: "one", nowMs: 0 });
  assert.equal(one.granted, 4);
  const two = drawPlaces(one.state, { limit, held: 0, wanted: 4 }, { process: "two", nowMs: PLACE_LEASE_MS - 1 });
  assert.equal(two.granted, 1);
  const later = drawPlaces(two.state, { limit, held: 1, wanted: 4 }, { process: "two", nowMs: PLACE_LEASE_MS });
  assert.equal(later.granted, 4);
  assert.deepEqual(Object.keys(later.state), ["two"]);
});

test("quotas.concurrent-crash: a process that returns to places that others have taken keeps what runs and is granted no more", () => {
  const limit = { ...limitOf(5), unit: "concurrent" as const };
  const state = { two: [5, 100_000] };
  const back = drawPlaces(state, { limit, held: 4, wanted: 1 }, { process: "one", nowMs: 50_000 });
  assert.equal(back.granted, 0);
  assert.deepEqual(Object.keys(back.state).toSorted(), ["one", "two"]);
});
