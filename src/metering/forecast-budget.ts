// The spend of a budget at the end of its window, at the present pace [budgets.forecast]. Pure, in whole nano-USD, milliseconds and tokens.
import { type Amounts, type BudgetState, type Meter, metersOf } from "./budget.ts";

export interface BudgetForecast extends Amounts {
  /** When the first of its limits is met at that pace, which is now where it is met already; null: not in this window. */
  readonly limitReachedAt: Date | null;
}

/** Before this part of a window has passed, a single call would tell of all of it: 72 min of a day, a day and a half of a month. */
const EARLIEST_PART = 20n;

/**
 * A linear projection of what was spent since the window started; it ignores time of day and weekday. What is reserved for calls in flight
 * is added once. What leases hold in advance is not spent by anybody and is left out.
 */
export function forecastBudget(budget: BudgetState): BudgetForecast | null {
  const { windowStart, resetsAt, readAt } = budget;
  if (resetsAt === null) return null;
  const window: Window = {
    lengthMs: BigInt(resetsAt.getTime() - windowStart.getTime()),
    passedMs: BigInt(readAt.getTime() - windowStart.getTime()),
  };
  if (window.passedMs * EARLIEST_PART < window.lengthMs) return null;
  const [usd, audio, tokens] = metersOf(withoutLeased(budget));
  const reached = [usd, audio, tokens].flatMap((meter) => reachedAfterMs(meter, window) ?? []);
  return {
    nanoUsd: spentAtEnd(usd, window),
    audioMs: spentAtEnd(audio, window),
    tokens: spentAtEnd(tokens, window),
    limitReachedAt: reached.length === 0 ? null : new Date(windowStart.getTime() + Math.min(...reached)),
  };
}

function withoutLeased(budget: BudgetState): BudgetState {
  const { leased, reservedNanoUsd, reservedTokens } = budget;
  if (leased === undefined) return budget;
  return {
    ...budget,
    reservedNanoUsd: atLeastZero(reservedNanoUsd - leased.nanoUsd),
    reservedTokens: atLeastZero(reservedTokens - leased.tokens),
  };
}

function atLeastZero(amount: bigint): bigint {
  return amount < 0n ? 0n : amount;
}

interface Window {
  readonly lengthMs: bigint;
  readonly passedMs: bigint;
}

/** What cannot be counted any more is left off, so that a limit is met in time exactly where it is met in the end. */
function spentAtEnd({ spent, reserved }: Meter, { lengthMs, passedMs }: Window): bigint {
  const atPace = (spent * lengthMs) / passedMs;
  return atPace > spent + reserved ? atPace : spent + reserved;
}

function reachedAfterMs(meter: Meter, window: Window): number | null {
  const { limit, spent, reserved } = meter;
  const { passedMs } = window;
  if (limit === null) return null;
  if (spent + reserved >= limit) return Number(passedMs);
  if (spentAtEnd(meter, window) < limit) return null;
  return Number((limit * passedMs + spent - 1n) / spent);
}
