// Money and prices as pure rules.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  headroomOf,
  judgeBudget,
  reachesSoftLimit,
  limitMs,
  resetsAt,
  windowStart,
} from "../../src/metering/budget.ts";
import { formatUsd, parseUsd } from "../../src/metering/money.ts";
import { type AudioPrice, audioCharge, createPriceBook, parseAudioPrice } from "../../src/metering/price.ts";

const hourly = (nanoUsdPerAudioHour: bigint): AudioPrice => ({
  provider: "p",
  model: "m",
  nanoUsdPerAudioHour,
  perChannel: false,
  source: "test",
  asOf: "2026-11-01",
});

test("metering.money-exact: USD text and nano-USD are exact in both directions", () => {
  const cases: readonly [string, bigint][] = [
    ["0.00", 0n],
    ["0.22", 220_000_000n],
    ["50.00", 50_000_000_000n],
    ["0.000733", 733_000n],
    ["0.000000001", 1n],
    ["999999999.999999999", 999_999_999_999_999_999n],
  ];
  for (const [text, nano] of cases) {
    assert.equal(parseUsd(text), nano);
    assert.equal(formatUsd(nano), text);
  }
  assert.equal(parseUsd("7"), 7_000_000_000n);
  assert.equal(formatUsd(-1_500_000_000n), "-1.50");
  for (const bad of ["", ".5", "1.", "1e3", "-1", "+1", "0.0000000001", "1,5", " 1", "NaN"])
    assert.equal(parseUsd(bad), null, bad);
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (nano) => parseUsd(formatUsd(nano)) === nano));
});

test("metering.price-built-in, metering.price-unknown: an hour on elevenlabs/scribe_v2 costs 0.22 USD; an unknown price is null, not 0", () => {
  const price = createPriceBook([]).audio("elevenlabs", "scribe_v2");
  assert.ok(price !== null);
  assert.equal(formatUsd(audioCharge(price, 3_600_000)), "0.22");
  assert.equal(audioCharge(price, 12_341), 754_172n);
  assert.equal(createPriceBook([]).audio("openai", "whisper-1"), null);
});

test("metering.price-override: an operator's price replaces the built-in one", () => {
  const own = { ...hourly(1n), provider: "elevenlabs", model: "scribe_v2" };
  assert.equal(createPriceBook([own]).audio("elevenlabs", "scribe_v2"), own);
  assert.equal(
    parseAudioPrice({
      provider: "p",
      model: "m",
      perChannel: true,
      source: "s",
      asOf: "2026-01-01",
      usdPerAudioHour: "0.29",
    })?.nanoUsdPerAudioHour,
    290_000_000n,
  );
  assert.equal(
    parseAudioPrice({
      provider: "p",
      model: "m",
      perChannel: true,
      source: "s",
      asOf: "2026-01-01",
      usdPerAudioHour: "free",
    }),
    null,
  );
});

test("metering.rounding: charges round half up to a nano-USD, and never lose more than half of one", () => {
  assert.equal(audioCharge(hourly(1_800_000n), 1), 1n);
  assert.equal(audioCharge(hourly(1_799_999n), 1), 0n);
  assert.equal(audioCharge(hourly(5_400_000n), 1), 2n);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.integer({ min: 0, max: 100_000_000 }), (price, ms) => {
      const apart = audioCharge(hourly(price), ms) * 3_600_000n - price * BigInt(ms);
      return apart <= 1_800_000n && apart > -1_800_000n;
    }),
  );
});

test("budgets.windows: windows are UTC days and months", () => {
  const now = new Date("2024-02-29T23:59:59.999Z");
  assert.equal(windowStart("day", now).toISOString(), "2024-02-29T00:00:00.000Z");
  assert.equal(resetsAt("day", now)?.toISOString(), "2024-03-01T00:00:00.000Z");
  assert.equal(windowStart("month", now).toISOString(), "2024-02-01T00:00:00.000Z");
  assert.equal(resetsAt("month", new Date("2026-12-31T00:00:00Z"))?.toISOString(), "2027-01-01T00:00:00.000Z");
  const middle = new Date("2026-06-15T12:00:00Z");
  assert.equal(windowStart("day", middle).toISOString(), "2026-06-15T00:00:00.000Z");
  assert.equal(resetsAt("day", middle)?.toISOString(), "2026-06-16T00:00:00.000Z");
  assert.equal(windowStart("month", middle).toISOString(), "2026-06-01T00:00:00.000Z");
  assert.equal(resetsAt("month", middle)?.toISOString(), "2026-07-01T00:00:00.000Z");
  assert.equal(windowStart("total", now).getTime(), 0);
  assert.equal(resetsAt("total", now), null);
});

test("metering.budget-hard-limit, metering.budget-zero-request: a budget may be reached, not exceeded; asking for nothing never exceeds", () => {
  const budget = {
    id: "b",
    kind: "budget",
    period: "day",
    limitNanoUsd: 10n,
    limitAudioMs: null,
    limitTokens: null,
    softLimit: 0.5,
    spentNanoUsd: 4n,
    reservedNanoUsd: 3n,
    spentAudioMs: 0n,
    reservedAudioMs: 0n,
    spentTokens: 0n,
    reservedTokens: 0n,
    windowStart: new Date(0),
    resetsAt: null,
    readAt: new Date(0),
  } as const;
  assert.equal(judgeBudget(budget, { nanoUsd: 3n, audioMs: 1n, tokens: 0n }), null);
  assert.equal(judgeBudget(budget, { nanoUsd: 4n, audioMs: 1n, tokens: 0n })?.requested, 4n);
  assert.deepEqual(headroomOf(budget), { nanoUsd: 3n, tokens: null });
  assert.deepEqual(headroomOf({ ...budget, limitNanoUsd: 6n, limitTokens: 0n }), { nanoUsd: 0n, tokens: 0n });
  assert.equal(judgeBudget({ ...budget, spentNanoUsd: 99n }, { nanoUsd: 0n, audioMs: 1n, tokens: 0n }), null);
  const isReached = (more: object) => reachesSoftLimit({ ...budget, ...more });
  assert.deepEqual(
    [{}, { spentNanoUsd: 5n }, { spentNanoUsd: 5n, softLimit: null }, { limitTokens: 9n, spentTokens: 5n }].map(
      isReached,
    ),
    [false, true, false, true],
    "what is only held does not count",
  );
  assert.equal(isReached({ limitNanoUsd: 100n, spentNanoUsd: 7n, softLimit: 0.07 }), true);
  assert.equal(isReached({ limitNanoUsd: 0n, spentNanoUsd: 0n }), false);
  assert.equal(limitMs("12.3456"), 12_345n);
  assert.equal(limitMs("3600"), 3_600_000n);
  assert.equal(limitMs(null), null);
});
