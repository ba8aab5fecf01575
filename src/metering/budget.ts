// Decides whether a budget allows a request, as a pure function [metering.budget-hard-limit]. Windows are UTC days, UTC months, or one window without an end.
export type BudgetPeriod = "day" | "month" | "total";

/** An app's own budget, or what its workspace's plan pays from: the monthly token allowance or the credits. */
export type BudgetKind = "budget" | "allowance" | "credits";

/** A budget with the usage of its current window. */
export interface BudgetState {
  readonly id: string;
  readonly kind: BudgetKind;
  readonly period: BudgetPeriod;
  readonly limitNanoUsd: bigint | null;
  readonly limitAudioMs: bigint | null;
  readonly limitTokens: bigint | null;
  /** Fraction of each limit at which a warning is shown. Refuses nothing. */
  readonly softLimit: number | null;
  readonly spentNanoUsd: bigint;
  readonly reservedNanoUsd: bigint;
  readonly spentAudioMs: bigint;
  readonly reservedAudioMs: bigint;
  readonly spentTokens: bigint;
  readonly reservedTokens: bigint;
  /** The part of the reserved amounts that leases hold in advance and no call uses yet. Absent: it was not read. */
  readonly leased?: Pick<Amounts, "nanoUsd" | "tokens">;
  readonly windowStart: Date;
  readonly resetsAt: Date | null;
  /** Time of the read, by the database's clock. */
  readonly readAt: Date;
}

/** Money in nano-USD, audio in milliseconds. */
export interface Amounts {
  readonly nanoUsd: bigint;
  readonly audioMs: bigint;
  readonly tokens: bigint;
}

export interface BudgetExceeded {
  readonly budgetId: string;
  readonly budgetKind: BudgetKind;
  /** The limit that would be exceeded. */
  readonly kind: "usd" | "audio_seconds" | "tokens";
  readonly period: BudgetPeriod;
  /** The next four amounts are in nano-USD, milliseconds of audio, or tokens. */
  readonly limit: bigint;
  readonly spent: bigint;
  readonly reserved: bigint;
  readonly requested: bigint;
  readonly resetsAt: Date | null;
}

/** Returns the first limit that the request could exceed. A request for nothing exceeds nothing, however low a limit was set since. */
export function judgeBudget(budget: BudgetState, requested: Amounts): BudgetExceeded | null {
  for (const meter of metersOf(budget, requested)) {
    if (exceeds(meter)) {
      const { id: budgetId, kind: budgetKind, period, resetsAt } = budget;
      return { budgetId, budgetKind, period, resetsAt, ...meter };
    }
  }
  return null;
}

/** Counts only what is spent, because reservations may be released. */
export function reachesSoftLimit(budget: BudgetState): boolean {
  return metersOf(budget).some((meter) => isSoftlyReached(meter, budget.softLimit));
}

/** Divides instead of multiplying, so that 7 of 100 is exactly 0.07. With a limit of zero nothing is ever spent. */
export function isSoftlyReached({ limit, spent }: Pick<Meter, "limit" | "spent">, softLimit: number | null): boolean {
  return limit !== null && softLimit !== null && Number(spent) / Number(limit) >= softLimit;
}

/** How much of each limit is still available. Null: no limit. */
export function headroomOf(budget: BudgetState): {
  readonly nanoUsd: bigint | null;
  readonly tokens: bigint | null;
} {
  return {
    nanoUsd: remainder(budget.limitNanoUsd, budget.spentNanoUsd + budget.reservedNanoUsd),
    tokens: remainder(budget.limitTokens, budget.spentTokens + budget.reservedTokens),
  };
}

export function addReserved(budget: BudgetState, amounts: Amounts): BudgetState {
  return {
    ...budget,
    reservedNanoUsd: budget.reservedNanoUsd + amounts.nanoUsd,
    reservedAudioMs: budget.reservedAudioMs + amounts.audioMs,
    reservedTokens: budget.reservedTokens + amounts.tokens,
  };
}

/** A budget without an end has one window, which starts with the epoch. */
export function windowStart(period: BudgetPeriod, now: Date): Date {
  if (period === "total") return new Date(0);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), period === "day" ? now.getUTCDate() : 1));
}

export function resetsAt(period: BudgetPeriod, now: Date): Date | null {
  if (period === "total") return null;
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return new Date(period === "day" ? Date.UTC(year, month, now.getUTCDate() + 1) : Date.UTC(year, month + 1));
}

/** `limit_audio_seconds` is an exact decimal. Fractions of a millisecond are dropped. */
export function limitMs(seconds: string | null): bigint | null {
  if (seconds === null) return null;
  const [whole = "0", fraction = ""] = seconds.split(".");
  return BigInt(whole) * 1000n + BigInt(fraction.slice(0, 3).padEnd(3, "0"));
}

const NOTHING: Amounts = { nanoUsd: 0n, audioMs: 0n, tokens: 0n };

export interface Meter {
  readonly kind: BudgetExceeded["kind"];
  readonly limit: bigint | null;
  readonly spent: bigint;
  readonly reserved: bigint;
  readonly requested: bigint;
}

export function metersOf(
  budget: BudgetState,
  requested: Amounts = NOTHING,
): readonly [usd: Meter, audio: Meter, tokens: Meter] {
  return [
    {
      kind: "usd",
      limit: budget.limitNanoUsd,
      spent: budget.spentNanoUsd,
      reserved: budget.reservedNanoUsd,
      requested: requested.nanoUsd,
    },
    {
      kind: "audio_seconds",
      limit: budget.limitAudioMs,
      spent: budget.spentAudioMs,
      reserved: budget.reservedAudioMs,
      requested: requested.audioMs,
    },
    {
      kind: "tokens",
      limit: budget.limitTokens,
      spent: budget.spentTokens,
      reserved: budget.reservedTokens,
      requested: requested.tokens,
    },
  ];
}

function remainder(limit: bigint | null, used: bigint): bigint | null {
  if (limit === null) return null;
  return limit > used ? limit - used : 0n;
}

function exceeds(meter: Meter): meter is Meter & { readonly limit: bigint } {
  return meter.limit !== null && meter.requested > 0n && meter.spent + meter.reserved + meter.requested > meter.limit;
}
