// Counters of quotas, in this process alone or over all of them: a sum over the last minute or hour, or places that are held. Several
// limits, the key's and the app's, are taken together or not at all [quotas.smaller-applies].
import type { MaybePromise } from "../lib/concurrency/maybe-promise.ts";
import type { CountKey } from "../storage/quota-counts.ts";

export interface Limit extends CountKey {
  /** In the unit that is counted: requests, milliseconds of audio, tokens, places. */
  readonly limit: number;
  /** How long what was taken counts; 0 for places. */
  readonly periodMs: number;
}

export interface Refused {
  readonly ok: false;
  readonly limit: Limit;
  /** Until it would fit; 0: nobody knows. */
  readonly waitMs: number;
}

export type Verdict = { readonly ok: true } | Refused;
export type Entered = { readonly ok: true; readonly leave: () => void } | Refused;

/** As far as this process knows, without asking anybody. */
export interface Standing {
  readonly left: number;
  /** Until there is more than that; null: nobody knows, or nothing was taken. */
  readonly moreInMs: number | null;
}

export interface Counters {
  take(limits: readonly Limit[], amount: number): MaybePromise<Verdict>;
  /** What `take` would say now. Nothing is counted. */
  judge(limits: readonly Limit[], amount: number): MaybePromise<Verdict>;
  /** What was taken turned out to be so much more, whatever room there is, or less: then the rest is free again. */
  correct(limits: readonly Limit[], difference: number): void;
  /** Holds a place of each. */
  enter(limits: readonly Limit[]): MaybePromise<Entered>;
  /** Null: nothing of it was taken here yet. */
  standing(limit: Limit): Standing | null;
  /** Gives back what is not used. */
  close(): Promise<void>;
}
