// This process's slice of a limit on concurrent requests [quotas.concurrent-reuse]. A slot that becomes free serves the next request here, and is returned
// if none arrives within a second.
import type { Limit, LimitState, Verdict } from "./counters.ts";
import type { PlaceAsk } from "./grant-quota.ts";

interface Waiter {
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/** A refusal is repeated for this long, unless a slot becomes free here. */
const REFUSED_FOR_MS = 100;
const OK = { ok: true } as const;

export class PlaceSlice {
  readonly #nowMs: () => number;
  readonly #draw: () => void;
  #limit: Limit;
  #held = 0;
  #running = 0;
  #leastFree = 0;
  /** What other processes held at the last grant. Null: there was none yet. */
  #others: number | null = null;
  #waiting: Waiter[] = [];
  #isDrawing = false;
  /** Whether slots must be returned that the row still counts. */
  #isOwing = false;
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  /** `draw` calls `ask`, and then `drawn` or `failed`. */
  constructor(limit: Limit, nowMs: () => number, draw: () => void) {
    this.#limit = limit;
    this.#nowMs = nowMs;
    this.#draw = draw;
  }

  async enter(limit: Limit): Promise<Verdict> {
    this.#limit = limit;
    if (this.#held > this.#running) {
      this.#use();
      return OK;
    }
    const sinceMs = this.#nowMs() - this.#refusedAtMs;
    if (sinceMs >= 0 && sinceMs < REFUSED_FOR_MS) return this.#refused();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#ask();
    });
  }

  leave(): void {
    this.#running -= 1;
  }

  ask(): PlaceAsk {
    this.#isOwing = false;
    return { limit: this.#limit, held: this.#held, wanted: this.#waiting.length };
  }

  drawn({ wanted }: PlaceAsk, { granted, others }: { readonly granted: number; readonly others: number }): void {
    this.#isDrawing = false;
    this.#held += granted;
    this.#others = others;
    for (const { resolve } of this.#waiting.splice(0, wanted)) {
      if (this.#held > this.#running) {
        this.#use();
        resolve(OK);
      } else {
        this.#refusedAtMs = this.#nowMs();
        resolve(this.#refused());
      }
    }
    this.#askAgain();
  }

  failed({ wanted }: PlaceAsk, error: unknown): void {
    this.#isDrawing = false;
    for (const { reject } of this.#waiting.splice(0, wanted)) reject(error);
    this.#askAgain();
  }

  standing({ limit }: Limit): LimitState | null {
    return this.#others === null ? null : { left: limit - this.#others - this.#running, moreInMs: null };
  }

  /** Called once a second: returns slots that were not used since. Returns false if the slice can be dropped. */
  look(): boolean {
    const isUsed = this.#held > 0 || this.#waiting.length > 0 || this.#isDrawing;
    if (this.#leastFree > 0) this.#giveBack(this.#leastFree);
    this.#leastFree = this.#held - this.#running;
    return isUsed;
  }

  /** Renews the slots before they expire. */
  renew(): void {
    if (this.#held > 0) this.#ask();
  }

  giveBackAll(): void {
    if (this.#held > this.#running) this.#giveBack(this.#held - this.#running);
  }

  #giveBack(places: number): void {
    this.#held -= places;
    this.#isOwing = true;
    this.#ask();
  }

  /** For requests that arrived during the last draw. */
  #askAgain(): void {
    if (this.#waiting.length > 0 || this.#isOwing) this.#ask();
  }

  #ask(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    this.#draw();
  }

  #use(): void {
    this.#running += 1;
    this.#leastFree = Math.min(this.#leastFree, this.#held - this.#running);
  }

  #refused(): Verdict {
    return { ok: false, limit: this.#limit, waitMs: 0 };
  }
}
