// This process's slice of a quota per minute or hour [quotas.unused-returned]: spent in memory, allocated ahead of need while plenty is left, and returned
// if it is not used.
import type { Limit, LimitExceeded, LimitState, Verdict } from "./counters.ts";
import type { WindowAsk, WindowDrawn } from "./grant-quota.ts";
import { type Slots, slotsAt, standingOf } from "./window.ts";

/** What all processes together have drawn, by the database's clock. */
export interface WindowRow {
  readonly slots: Slots;
  readonly nowMs: number;
}

interface Waiter {
  readonly amount: number;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/** A refusal is repeated for this long, so that a flood of refused requests draws at most ten times a second. */
const REFUSED_FOR_MS = 100;
const OK = { ok: true } as const;

export class WindowSlice {
  readonly #nowMs: () => number;
  readonly #draw: () => void;
  #limit: Limit;
  #left = 0;
  #leastLeft = 0;
  #returned = 0;
  #owed = 0;
  #waiting: Waiter[] = [];
  #isDrawing = false;
  /** The advance of the last draw. 0: the quota is too small or too far used up for one. */
  #advance = 0;
  #refused: { readonly amount: number; readonly atMs: number; readonly waitMs: number } | null = null;
  /** The row after the last draw. */
  #row: (WindowRow & { readonly seenAtMs: number }) | null = null;
  /** Amounts taken since the last look, and between the two looks before it. */
  #taken = 0;
  #takenBefore = 0;
  #takes = 0;

  /** `draw` calls `ask`, and then `drawn` or `failed`. */
  constructor(limit: Limit, nowMs: () => number, draw: () => void) {
    this.#limit = limit;
    this.#nowMs = nowMs;
    this.#draw = draw;
  }

  async take(limit: Limit, amount: number): Promise<Verdict> {
    this.#limit = limit;
    if (this.#left >= amount) {
      this.#spend(amount);
      if (this.#advance > 0 && this.#left < this.#advance / 2) this.#ask();
      return OK;
    }
    const refused = this.#lately(amount);
    if (refused !== null) return refused;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ amount, resolve, reject });
      this.#ask();
    });
  }

  /** Undoes a take after another limit had no room. */
  put(amount: number): void {
    this.#left += amount;
    this.#taken -= amount;
    this.#takes -= 1;
  }

  /** Drawn and not yet spent by this process. */
  get unspent(): number {
    return this.#left;
  }

  /** Corrects an earlier amount, because more or less was used than was taken. */
  correct(difference: number): void {
    const covered = Math.min(difference, this.#left);
    this.#left -= covered;
    this.#leastLeft = Math.min(this.#leastLeft, this.#left);
    this.#owed += difference - covered;
    if (this.#owed > 0) this.#ask();
  }

  ask(): WindowAsk {
    const amounts = this.#waiting.map((waiter) => waiter.amount);
    // Reserved for the waiting requests. If none is waiting, it can be spent meanwhile.
    const reserved = amounts.length > 0 ? this.#left : 0;
    this.#left -= reserved;
    const [returned, owed] = [this.#returned, this.#owed];
    this.#returned = 0;
    this.#owed = 0;
    return { limit: this.#limit, own: reserved, amounts, inAdvance: this.#demand(), returned, owed };
  }

  drawn(ask: WindowAsk, { granted, inAdvance, waitsMs }: WindowDrawn, row: WindowRow): void {
    this.#isDrawing = false;
    this.#row = { ...row, seenAtMs: this.#nowMs() };
    this.#left += ask.own + granted;
    this.#advance = inAdvance;
    for (const [index, { amount, resolve }] of this.#waiting.splice(0, ask.amounts.length).entries()) {
      const waitMs = waitsMs[index] ?? null;
      if (waitMs === null) {
        this.#spend(amount);
        resolve(OK);
      } else {
        if (this.#refused === null || this.#lately(this.#refused.amount) === null || amount < this.#refused.amount)
          this.#refused = { amount, atMs: this.#nowMs(), waitMs };
        resolve({ ok: false, limit: this.#limit, waitMs });
      }
    }
    this.#askAgain();
  }

  failed(ask: WindowAsk, error: unknown): void {
    this.#isDrawing = false;
    this.#left += ask.own;
    // Counted with the next draw. It does not retry by itself, because the database may be unavailable.
    this.#owed += ask.owed;
    this.#advance = 0;
    for (const { reject } of this.#waiting.splice(0, ask.amounts.length)) reject(error);
    if (this.#waiting.length > 0) this.#ask();
  }

  /** An upper bound, because what other processes drew since the last draw is not known here. */
  standing(limit: Limit): LimitState | null {
    if (this.#row === null) return null;
    const { slots, nowMs, seenAtMs } = this.#row;
    const dbNowMs = nowMs + this.#nowMs() - seenAtMs;
    const { left, moreInMs } = standingOf(slotsAt(slots, dbNowMs, limit.periodMs), limit, dbNowMs);
    return { left: left + this.#left + this.#returned - this.#owed, moreInMs };
  }

  /** Called once a second: returns what was not needed since. Returns false if the slice can be dropped. */
  look(): boolean {
    const surplus = Math.min(this.#left, this.#leastLeft - this.#demand());
    this.#takenBefore = this.#taken;
    const isIdle =
      this.#takes === 0 && this.#left === 0 && this.#waiting.length === 0 && this.#owed === 0 && !this.#isDrawing;
    this.#taken = 0;
    this.#takes = 0;
    if (surplus > 0) this.#giveBack(surplus);
    else if (this.#owed > 0) this.#ask();
    this.#leastLeft = this.#left;
    return !isIdle;
  }

  giveBackAll(): void {
    if (this.#left > 0) this.#giveBack(this.#left);
  }

  #giveBack(amount: number): void {
    this.#left -= amount;
    this.#returned += amount;
    this.#advance = 0;
    this.#ask();
  }

  /** For requests that arrived during the last draw. */
  #askAgain(): void {
    if (this.#waiting.length > 0 || this.#returned > 0 || this.#owed > 0) this.#ask();
  }

  #ask(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    this.#draw();
  }

  #spend(amount: number): void {
    this.#left -= amount;
    this.#leastLeft = Math.min(this.#leastLeft, this.#left);
    this.#taken += amount;
    this.#takes += 1;
  }

  /** Demand of about a second. A single request does not predict another. */
  #demand(): number {
    return this.#takes > 1 ? Math.max(this.#taken, this.#takenBefore) : this.#takenBefore;
  }

  #lately(amount: number): LimitExceeded | null {
    if (this.#refused === null || amount < this.#refused.amount) return null;
    const sinceMs = this.#nowMs() - this.#refused.atMs;
    const { waitMs } = this.#refused;
    if (sinceMs < 0 || sinceMs >= Math.min(REFUSED_FOR_MS, waitMs)) return null;
    return { ok: false, limit: this.#limit, waitMs: waitMs - sinceMs };
  }
}
