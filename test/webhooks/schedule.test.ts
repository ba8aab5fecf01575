// When a failed delivery is tried again [webhooks.schedule].
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as check, double, property } from "fast-check";
import { DELAYS_SECONDS, nextDelaySeconds, retryAfterSeconds } from "../../src/webhooks/schedule.ts";

const plain = { maxAttempts: 8, isThrottled: false, retryAfterSeconds: null, random: 0.5 };

test("webhooks.schedule: eight attempts in 27.6 h: 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, and then none", () => {
  const steps = [1, 2, 3, 4, 5, 6, 7].map((made) => nextDelaySeconds({ ...plain, made }));
  assert.deepEqual(steps, [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]);
  assert.equal(DELAYS_SECONDS[0], 0);
  assert.equal((steps.reduce<number>((sum, step) => sum + (step ?? 0), 0) / 3600).toFixed(1), "27.6");
  assert.equal(nextDelaySeconds({ ...plain, made: 8 }), null);
});

test("webhooks.schedule: an operator's smaller number of attempts ends the schedule earlier", () => {
  assert.equal(nextDelaySeconds({ ...plain, maxAttempts: 1, made: 1 }), null);
  assert.equal(nextDelaySeconds({ ...plain, maxAttempts: 3, made: 2 }), 300);
  assert.equal(nextDelaySeconds({ ...plain, maxAttempts: 3, made: 3 }), null);
});

test("webhooks.jitter: every delay is within ±10 % of its step, which leaves as much for its way, and both ends are reached", () => {
  for (const [made, step] of DELAYS_SECONDS.entries()) {
    if (made === 0) continue;
    check(
      property(double({ min: 0, max: 1, noNaN: true }), (random) => {
        const delay = nextDelaySeconds({ ...plain, made, random }) ?? Number.NaN;
        return delay >= step * 0.9 - 1e-6 && delay <= step * 1.1 + 1e-6;
      }),
    );
    assert.ok(Math.abs((nextDelaySeconds({ ...plain, made, random: 0 }) ?? 0) - step * 0.9) < 1e-6);
    assert.ok(Math.abs((nextDelaySeconds({ ...plain, made, random: 1 }) ?? 0) - step * 1.1) < 1e-6);
  }
});

test("webhooks.throttled: after a timeout or 429 at least 60 s, and the later steps as they are", () => {
  const throttled = { ...plain, isThrottled: true };
  assert.equal(nextDelaySeconds({ ...throttled, made: 1, random: 0 }), 60);
  assert.equal(nextDelaySeconds({ ...throttled, made: 1, random: 1 }), 60);
  assert.equal(nextDelaySeconds({ ...throttled, made: 2 }), 300);
});

test("webhooks.retry-after: Retry-After is honoured up to twice the step, and never shortens it", () => {
  const asked = (made: number, seconds: number, isThrottled = false) =>
    nextDelaySeconds({ ...plain, made, isThrottled, retryAfterSeconds: seconds });
  assert.equal(asked(2, 450), 450);
  assert.equal(asked(2, 600), 600);
  assert.equal(asked(2, 86_400), 600);
  assert.equal(asked(2, 10), 300);
  assert.equal(asked(1, 3_600), 10);
  assert.equal(asked(1, 90, true), 90, "the floor is the step of a receiver that asked for less");
  assert.equal(asked(1, 3_600, true), 120);
  assert.equal(asked(8, 30), null);
});

test("webhooks.retry-after: Retry-After is read in both of its forms, and nothing else is", () => {
  const nowMs = Date.parse("2026-11-20T12:00:00Z");
  assert.equal(retryAfterSeconds("120", nowMs), 120);
  assert.equal(retryAfterSeconds(" 0 ", nowMs), 0);
  assert.equal(retryAfterSeconds("Fri, 20 Nov 2026 12:02:00 GMT", nowMs), 120);
  assert.equal(retryAfterSeconds("Fri, 20 Nov 2026 11:00:00 GMT", nowMs), 0);
  for (const header of [undefined, "", "soon", "-5", "1.5", "1e3", "2026-11-20", "Fri, no day GMT", "9".repeat(20)])
    assert.equal(retryAfterSeconds(header, nowMs), null, header);
});
