// A lease as this process knows it: what is left of its slices, and until when they may be spent [metering.lease-lifetime].
import type { LeaseId } from "../contract/ids.ts";
import { NOTHING, type Slice } from "./grow-lease.ts";

/** Of a lease's time: from then on the next one is made, while this one is still spent. */
const RENEW_AFTER = 0.9;

export class Lease {
  readonly id: LeaseId;
  readonly #nowMs: () => number;
  /** A lease of yesterday's windows is not spent today, and one of yesterday's limits not for long. */
  readonly #usableUntilMs: number;
  readonly #renewFromMs: number;
  #left = NOTHING;
  /** Null: more is taken when a call does not fit, and not before. */
  #growBelow: Slice | null = null;
  #running = 0;
  #lastUsedMs: number;

  constructor(id: LeaseId, usableMs: number, nowMs: () => number) {
    this.id = id;
    this.#nowMs = nowMs;
    this.#lastUsedMs = nowMs();
    this.#usableUntilMs = nowMs() + usableMs;
    this.#renewFromMs = nowMs() + usableMs * RENEW_AFTER;
  }

  get left(): Slice {
    return this.#left;
  }

  get isRunning(): boolean {
    return this.#running > 0;
  }

  isUsable(): boolean {
    return this.#nowMs() < this.#usableUntilMs;
  }

  /** Another should take its place soon. */
  isEnding(): boolean {
    return this.#nowMs() >= this.#renewFromMs;
  }

  isIdle(forMs: number): boolean {
    return !this.isRunning && this.#nowMs() - this.#lastUsedMs >= forMs;
  }

  /** More was taken for calls like one of `need`; the next slice is due when half of what that one leaves is spent. */
  grow(more: Slice, need: Slice): void {
    this.#add(more);
    const spare = { nanoUsd: this.#left.nanoUsd - need.nanoUsd, tokens: this.#left.tokens - need.tokens };
    // The budgets have little room: no other call would fit in what they give in advance.
    this.#growBelow = covers(spare, need) ? { nanoUsd: spare.nanoUsd / 2n, tokens: spare.tokens / 2n } : null;
  }

  /** Asked for once, whatever comes of it. */
  get isDue(): boolean {
    return this.#growBelow !== null && (this.isEnding() || !covers(this.#left, this.#growBelow));
  }

  asked(): void {
    this.#growBelow = null;
  }

  get hasRest(): boolean {
    return this.#left.nanoUsd > 0n || this.#left.tokens > 0n;
  }

  /** All that is not under way, to be given back. */
  empty(): Slice {
    const rest = this.#left;
    this.#left = NOTHING;
    return rest;
  }

  #add(more: Slice): void {
    this.#left = { nanoUsd: this.#left.nanoUsd + more.nanoUsd, tokens: this.#left.tokens + more.tokens };
  }

  take(need: Slice): boolean {
    if (!covers(this.#left, need)) return false;
    this.#add({ nanoUsd: -need.nanoUsd, tokens: -need.tokens });
    this.#running += 1;
    this.#lastUsedMs = this.#nowMs();
    return true;
  }

  /** A call has ended: what it did not use comes back. */
  put(unused: Slice): void {
    this.#add(unused);
    this.#running -= 1;
  }
}

function covers(left: Slice, need: Slice): boolean {
  return left.nanoUsd >= need.nanoUsd && left.tokens >= need.tokens;
}
