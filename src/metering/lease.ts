// A lease in this process's memory: how much of its slices is left, and until when it may be spent [metering.lease-lifetime].
import type { LeaseId } from "../contract/ids.ts";
import { NOTHING, type Slice } from "./grow-lease.ts";

/** Fraction of a lease's lifetime after which its replacement is created, while it is still in use. */
const RENEW_AFTER = 0.9;

export class Lease {
  readonly id: LeaseId;
  readonly #nowMs: () => number;
  /** Bounds how long a lease pays from a window that has ended, or under limits that have changed. */
  readonly #usableUntilMs: number;
  readonly #renewFromMs: number;
  #left = NOTHING;
  /** Null: grow only when a call does not fit. */
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

  /** Whether the lease should be replaced soon. */
  isEnding(): boolean {
    return this.#nowMs() >= this.#renewFromMs;
  }

  isIdle(forMs: number): boolean {
    return !this.isRunning && this.#nowMs() - this.#lastUsedMs >= forMs;
  }

  /** Adds a slice that was taken for calls of size `need`. The next slice is due when half of what that call leaves is spent. */
  grow(more: Slice, need: Slice): void {
    this.#add(more);
    const spare = { nanoUsd: this.#left.nanoUsd - need.nanoUsd, tokens: this.#left.tokens - need.tokens };
    // No advance if the budgets have little room: no other call would fit in it.
    this.#growBelow = covers(spare, need) ? { nanoUsd: spare.nanoUsd / 2n, tokens: spare.tokens / 2n } : null;
  }

  /** Growth is requested once per slice, whatever its outcome. */
  get isDue(): boolean {
    return this.#growBelow !== null && (this.isEnding() || !covers(this.#left, this.#growBelow));
  }

  asked(): void {
    this.#growBelow = null;
  }

  get hasRest(): boolean {
    return this.#left.nanoUsd > 0n || this.#left.tokens > 0n;
  }

  /** Takes everything that no call in flight uses, to return it to the budgets. */
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

  /** A call has ended: its unused amounts are available again. */
  put(unused: Slice): void {
    this.#add(unused);
    this.#running -= 1;
  }
}

function covers(left: Slice, need: Slice): boolean {
  return left.nanoUsd >= need.nanoUsd && left.tokens >= need.tokens;
}
