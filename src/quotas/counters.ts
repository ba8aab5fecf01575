// The interface of quota counters, for one process or shared by several: sliding sums over the last minute or hour, and slots for concurrent requests.
// Several limits, the key's and the app's, are taken together or not at all [quotas.smaller-applies].
import type { CountKey } from "./store/quota-counts.ts";

export interface Limit extends CountKey {
  /** In the unit that is counted: requests, milliseconds of audio, tokens or slots. */
  readonly limit: number;
  /** Length of the window. 0 for slots. */
  readonly periodMs: number;
}

export interface LimitExceeded {
  readonly ok: false;
  readonly limit: Limit;
  /** Time until it would fit. 0: unknown. */
  readonly waitMs: number;
}

export type Verdict = { readonly ok: true } | LimitExceeded;
export type SlotVerdict = { readonly ok: true; readonly leave: () => void } | LimitExceeded;

/** State of a limit as far as this process knows, without reading the database. */
export interface LimitState {
  readonly left: number;
  /** Time until more is available. Null: unknown, or nothing was taken. */
  readonly moreInMs: number | null;
}

export interface Counters {
  take(limits: readonly Limit[], amount: number): Promise<Verdict>;
  /** Returns what `take` would return now, without counting anything. */
  judge(limits: readonly Limit[], amount: number): Promise<Verdict>;
  /** Corrects an earlier amount: more is counted whatever room there is, less becomes available again. */
  correct(limits: readonly Limit[], difference: number): void;
  /** Takes a slot of each limit. */
  enter(limits: readonly Limit[]): Promise<SlotVerdict>;
  /** Null: this process has taken nothing of it yet. */
  standing(limit: Limit): LimitState | null;
  /** Returns unused amounts. */
  close(): Promise<void>;
}
