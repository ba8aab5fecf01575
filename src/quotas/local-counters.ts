// Quotas counted in this process (contract 2): the embedded engine has no other.
import { countName } from "../storage/quota-counts.ts";
import type { Counters, Limit, Verdict } from "./counters.ts";
import { addTo, msUntilFree, removeFrom, type Slots, slotsAt, standingOf, sumOf } from "./window.ts";

const OK = { ok: true } as const;

export function createLocalCounters(nowMs: () => number): Counters {
  const windows = new Map<string, Slots>();
  const running = new Map<string, number>();

  const slotsOf = (limit: Limit): Slots => slotsAt(windows.get(countName(limit)) ?? [], nowMs(), limit.periodMs);
  const judge = (limits: readonly Limit[], amount: number): Verdict => {
    for (const limit of limits) {
      const slots = slotsOf(limit);
      const excess = sumOf(slots) + amount - limit.limit;
      if (excess > 0) return { ok: false, limit, waitMs: msUntilFree(slots, excess, nowMs(), limit.periodMs) };
    }
    return OK;
  };
  const leave = (limits: readonly Limit[]): void => {
    for (const name of limits.map(countName)) {
      const rest = (running.get(name) ?? 1) - 1;
      if (rest > 0) running.set(name, rest);
      else running.delete(name);
    }
  };

  return {
    take: (limits, amount) => {
      const verdict = judge(limits, amount);
      if (!verdict.ok) return verdict;
      for (const limit of limits) windows.set(countName(limit), addTo(slotsOf(limit), amount, nowMs(), limit.periodMs));
      return verdict;
    },
    judge,
    correct: (limits, difference) => {
      for (const limit of limits) {
        const slots = slotsOf(limit);
        const corrected =
          difference < 0 ? removeFrom(slots, -difference) : addTo(slots, difference, nowMs(), limit.periodMs);
        windows.set(countName(limit), corrected);
      }
    },
    enter: (limits) => {
      const full = limits.find((limit) => (running.get(countName(limit)) ?? 0) >= limit.limit);
      if (full !== undefined) return { ok: false, limit: full, waitMs: 0 };
      for (const name of limits.map(countName)) running.set(name, (running.get(name) ?? 0) + 1);
      return { ok: true, leave: () => leave(limits) };
    },
    standing: (limit) => {
      if (limit.periodMs === 0) return { left: limit.limit - (running.get(countName(limit)) ?? 0), moreInMs: null };
      return standingOf(slotsOf(limit), limit, nowMs());
    },
    close: async () => undefined,
  };
}
