// The spend of a budget at the end of its window, as a pure rule.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type BudgetPeriod, type BudgetState, resetsAt, windowStart } from "../../src/metering/budget.ts";
import { forecastBudget } from "../../src/metering/forecast-budget.ts";

const USD = 1_000_000_000n;

function budget(period: BudgetPeriod, moment: string | Date, changes: Partial<BudgetState> = {}): BudgetState {
  const readAt = new Date(moment);
  return {
    id: "b",
    kind: "budget",
    period,
    limitNanoUsd: null,
    limitAudioMs: null,
    limitTokens: null,
    softLimit: null,
    spentNanoUsd: 0n,
    reservedNanoUsd: 0n,
    spentAudioMs: 0n,
    reservedAudioMs: 0n,
    spentTokens: 0n,
    reservedTokens: 0n,
    windowStart: windowStart(period, readAt),
    resetsAt: resetsAt(period, readAt),
    readAt,
    ...changes,
  };
}

test("budgets.forecast: a month continues at the pace of its spend, and the first limit to be met is named with its time", () => {
  const spent = { spentNanoUsd: 20n * USD, spentAudioMs: 90_000n, spentTokens: 7n };
  const limits = { limitNanoUsd: 50n * USD, limitAudioMs: 240_000n };
  assert.deepEqual(forecastBudget(budget("month", "2026-11-11T00:00:00Z", { ...spent, ...limits })), {
    nanoUsd: 60n * USD,
    audioMs: 270_000n,
    tokens: 21n,
    limitReachedAt: new Date("2026-11-26T00:00:00Z"),
  });
});

test("budgets.forecast-reserved, budgets.forecast-met: what is reserved counts once and sets no pace; a limit that is met is met now", () => {
  const noon = "2026-11-11T12:00:00Z";
  const held = { limitNanoUsd: 100n, spentNanoUsd: 10n, reservedNanoUsd: 30n };
  assert.deepEqual(forecastBudget(budget("day", noon, held)), {
    nanoUsd: 40n,
    audioMs: 0n,
    tokens: 0n,
    limitReachedAt: null,
  });
  const met = forecastBudget(budget("day", noon, { ...held, reservedNanoUsd: 90n }));
  assert.deepEqual(met?.limitReachedAt, new Date(noon));
});

test("budgets.forecast-reserved: what leases hold in advance is no part of a forecast, and meets no limit", () => {
  const noon = "2026-11-11T12:00:00Z";
  const held = {
    limitTokens: 7_000n,
    spentTokens: 30n,
    reservedTokens: 7_393n,
    reservedNanoUsd: 5n,
    leased: { nanoUsd: 9n, tokens: 7_393n },
  };
  const forecast = forecastBudget(budget("day", noon, held));
  assert.deepEqual(forecast, { nanoUsd: 0n, audioMs: 0n, tokens: 60n, limitReachedAt: null });
});

test("budgets.forecast-null: there is no forecast before a twentieth of a window has passed, nor without a period", () => {
  const spent = { limitTokens: 10n, spentTokens: 9n };
  const tokens = (period: BudgetPeriod, moment: string) => forecastBudget(budget(period, moment, spent))?.tokens;
  assert.equal(tokens("day", "2026-11-11T01:11:59.999Z"), undefined);
  assert.equal(tokens("day", "2026-11-11T01:12:00.000Z"), 180n);
  assert.equal(tokens("month", "2026-11-02T11:59:59.999Z"), undefined);
  assert.equal(tokens("month", "2026-11-02T12:00:00.000Z"), 180n);
  assert.equal(tokens("total", "2026-11-11T12:00:00Z"), undefined);
});

const amount = fc.bigInt({ min: 0n, max: 10n ** 18n });
const moment = fc.date({
  min: new Date("2024-01-01T00:00:00Z"),
  max: new Date("2030-12-31T23:59:59.999Z"),
  noInvalidDate: true,
});
const some = fc
  .record({ period: fc.constantFrom("day", "month"), moment, spent: amount, reserved: amount, limit: amount })
  .map(({ period, moment: readAt, spent, reserved, limit }) =>
    budget(period, readAt, { spentNanoUsd: spent, reservedNanoUsd: reserved, limitNanoUsd: limit }),
  );

test("budgets.forecast-bounds: of any budget it is never less than what is spent, more where more is spent, exact at the end", () => {
  fc.assert(
    fc.property(some, amount, (state, more) => {
      const forecast = forecastBudget(state);
      const end = state.resetsAt ?? new Date(0);
      const { spentNanoUsd: spent, reservedNanoUsd: reserved, windowStart: start, readAt } = state;
      const passed = (readAt.getTime() - start.getTime()) / (end.getTime() - start.getTime());
      assert.equal(forecast === null, passed < 0.05);
      assert.equal(forecastBudget({ ...state, readAt: end })?.nanoUsd, spent + reserved);
      if (forecast === null) return;
      assert(forecast.nanoUsd >= spent + reserved);
      const later = forecastBudget({ ...state, spentNanoUsd: spent + more });
      assert(later !== null && later.nanoUsd >= forecast.nanoUsd);
    }),
  );
});

test("budgets.forecast-bounds: of any budget a limit is met in time exactly where it is met at the end, between now and then, and sooner where more is spent", () => {
  fc.assert(
    fc.property(some, amount, (state, more) => {
      const forecast = forecastBudget(state);
      if (forecast === null) return;
      const { limitReachedAt: at } = forecast;
      assert.equal(at !== null, forecast.nanoUsd >= (state.limitNanoUsd ?? 0n));
      if (at === null) return;
      assert(at >= state.readAt && at <= (state.resetsAt ?? at));
      const sooner = forecastBudget({ ...state, spentNanoUsd: state.spentNanoUsd + more })?.limitReachedAt ?? null;
      assert(sooner !== null && sooner <= at);
    }),
  );
});
