// Forecasts the spend of a budget at the end of its window [budgets.forecast]. Pure, in whole nano-USD, milliseconds and tokens.
import { type Amounts, type BudgetState, type Meter, metersOf } from "./budget.ts";

export interface BudgetForecast extends Amounts {
  /** When the projection reaches the first limit, or now if one is reached already. Null: not in this window. */
  readonly limitReachedAt: Date | null;
}

/** No forecast before this fraction of a window has passed, because a single call would dominate it: 72 min of a day, 1.5 days of a month. */
const EARLIEST_PART = 20n;

/**
 * A linear projection of what was spent since the window started. It ignores time of day and weekday. Reservations of calls in flight are added once, those
 * that leases hold in advance are not.
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
  const reachedMs = [usd, audio, tokens].flatMap((meter) => reachedAfterMs(meter, window) ?? []);
  return {
    nanoUsd: spentAtEnd(usd, window),
    audioMs: spentAtEnd(audio, window),
    tokens: spentAtEnd(tokens, window),
    limitReachedAt: reachedMs.length === 0 ? null : new Date(windowStart.getTime() + Math.min(...reachedMs)),
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

/** Rounded down, so that the forecast reaches a limit exactly when `reachedAfterMs` finds a time for it. */
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
