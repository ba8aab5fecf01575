// What a budget allows, as pure judgement (contract 9): windows are UTC days, UTC months, or for ever.
export type BudgetPeriod = "day" | "month" | "total";

/** A budget and what its current window holds. */
export interface BudgetState {
  readonly id: string;
  readonly period: BudgetPeriod;
  readonly limitNanoUsd: bigint | null;
  readonly limitAudioMs: bigint | null;
  readonly spentNanoUsd: bigint;
  readonly reservedNanoUsd: bigint;
  readonly spentAudioMs: bigint;
  readonly reservedAudioMs: bigint;
  readonly windowStart: Date;
  readonly resetsAt: Date | null;
}

/** Money in nano-USD, audio in milliseconds. */
export interface Amounts {
  readonly nanoUsd: bigint;
  readonly audioMs: bigint;
}

export interface BudgetExceeded {
  readonly budgetId: string;
  readonly kind: "usd" | "audio_seconds";
  readonly period: BudgetPeriod;
  /** These four in nano-USD, or in milliseconds of audio. */
  readonly limit: bigint;
  readonly spent: bigint;
  readonly reserved: bigint;
  readonly requested: bigint;
  readonly resetsAt: Date | null;
}

/** The first limit that the request could exceed. Asking for nothing exceeds nothing, however low a limit was set since. */
export function judgeBudget(budget: BudgetState, requested: Amounts): BudgetExceeded | null {
  const { limitNanoUsd, limitAudioMs } = budget;
  const money = {
    limit: limitNanoUsd,
    spent: budget.spentNanoUsd,
    reserved: budget.reservedNanoUsd,
    requested: requested.nanoUsd,
  };
  const audio = {
    limit: limitAudioMs,
    spent: budget.spentAudioMs,
    reserved: budget.reservedAudioMs,
    requested: requested.audioMs,
  };
  const about = { budgetId: budget.id, period: budget.period, resetsAt: budget.resetsAt };
  if (exceeds(money)) return { ...about, kind: "usd", ...money };
  if (exceeds(audio)) return { ...about, kind: "audio_seconds", ...audio };
  return null;
}

export function addReserved(budget: BudgetState, amounts: Amounts): BudgetState {
  return {
    ...budget,
    reservedNanoUsd: budget.reservedNanoUsd + amounts.nanoUsd,
    reservedAudioMs: budget.reservedAudioMs + amounts.audioMs,
  };
}

/** A budget without end has one window, which starts with the epoch. */
export function windowStart(period: BudgetPeriod, now: Date): Date {
  if (period === "total") return new Date(0);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), period === "day" ? now.getUTCDate() : 1));
}

export function resetsAt(period: BudgetPeriod, now: Date): Date | null {
  if (period === "total") return null;
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return new Date(period === "day" ? Date.UTC(year, month, now.getUTCDate() + 1) : Date.UTC(year, month + 1));
}

/** `limit_audio_seconds` is an exact decimal; what is finer than a millisecond is not allowed for. */
export function limitMs(seconds: string | null): bigint | null {
  if (seconds === null) return null;
  const [whole = "0", fraction = ""] = seconds.split(".");
  return BigInt(whole) * 1000n + BigInt(fraction.slice(0, 3).padEnd(3, "0"));
}

interface Meter {
  readonly limit: bigint | null;
  readonly spent: bigint;
  readonly reserved: bigint;
  readonly requested: bigint;
}

function exceeds(meter: Meter): meter is Meter & { readonly limit: bigint } {
  return meter.limit !== null && meter.requested > 0n && meter.spent + meter.reserved + meter.requested > meter.limit;
}
