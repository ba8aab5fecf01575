// The leases of one app in this process: the one that is spent, and replaced ones whose calls are still under way (contract 9).
import { setTimeout as pause } from "node:timers/promises";
import type { LeaseId } from "../contract/ids.ts";
import type { LeaseOwner } from "../storage/budget-leases.ts";
import type { Database } from "../storage/database.ts";
import type { BudgetExceeded } from "./budget.ts";
import { type Grown, growLease, shrinkLease, type Slice } from "./grow-lease.ts";

/** A slice as this process knows it. */
export class Lease {
  readonly id: LeaseId;
  readonly #nowMs: () => number;
  /** A lease of yesterday's windows is not spent today, and one of yesterday's limits not for long. */
  readonly #usableUntilMs: number;
  #left: Slice;
  #running = 0;
  #lastUsedMs: number;

  constructor(id: LeaseId, left: Slice, usableMs: number, nowMs: () => number) {
    this.id = id;
    this.#left = left;
    this.#nowMs = nowMs;
    this.#lastUsedMs = nowMs();
    this.#usableUntilMs = nowMs() + usableMs;
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

  isIdle(forMs: number): boolean {
    return !this.isRunning && this.#nowMs() - this.#lastUsedMs >= forMs;
  }

  add(more: Slice): void {
    this.#left = { nanoUsd: this.#left.nanoUsd + more.nanoUsd, tokens: this.#left.tokens + more.tokens };
  }

  take(need: Slice): boolean {
    if (this.#left.nanoUsd < need.nanoUsd || this.#left.tokens < need.tokens) return false;
    this.add({ nanoUsd: -need.nanoUsd, tokens: -need.tokens });
    this.#running += 1;
    this.#lastUsedMs = this.#nowMs();
    return true;
  }

  /** A call has ended: what it did not use comes back. */
  put(unused: Slice): void {
    this.add(unused);
    this.#running -= 1;
  }
}

export type Taken =
  | { readonly ok: true; readonly lease: Lease }
  | { readonly ok: false; readonly exceeded: BudgetExceeded };

export interface LeasePool {
  take(need: Slice): Promise<Taken>;
  /** All that must be renewed. */
  leases(): readonly Lease[];
  retireIdle(forMs: number): void;
  /** What is not in use goes back at once: another process has asked for it. */
  giveBack(): Promise<void>;
  /** Retired ones without a call under way: to be closed and then forgotten. */
  done(): readonly Lease[];
  /** They were closed, or lapsed and counted as spent; nothing more is taken from them. */
  forget(gone: ReadonlySet<string>): void;
}

/** Budgets that are set or lowered meanwhile hold within this time for what is paid from leases. */
const MAX_AGE_MS = 60_000;
/** So long others have to give back what was asked for; it is asked for at most once a second, or a spent budget would cost them more. */
const RETURN_MS = 150;
const ASK_EVERY_MS = 1_000;

export function createLeasePool(database: Database, owner: LeaseOwner, holder: string, nowMs: () => number): LeasePool {
  let current: Lease | null = null;
  let growing: Promise<unknown> | null = null;
  const retired = new Set<Lease>();
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let returning: Promise<void> | null = null;

  const retire = (): void => {
    if (current !== null) retired.add(current);
    current = null;
  };

  /** False: nothing is on its way back. */
  const returned = async (isAsked: boolean): Promise<boolean> => {
    if (isAsked) {
      askedAtMs = performance.now();
      returning = pause(RETURN_MS, undefined, { ref: false }).finally(() => {
        returning = null;
      });
    }
    if (returning === null) return false;
    await returning;
    return true;
  };

  const grow = async (need: Slice, asksOthers: boolean): Promise<Grown> => {
    const before = current;
    const asked = growLease(database, {
      owner,
      holder,
      lease: before === null ? null : { id: before.id, ...before.left },
      need,
      asksOthers,
    });
    growing = asked.catch(() => undefined);
    try {
      const grown = await asked;
      if (!grown.ok) return grown;
      if (before?.id === grown.id) before.add(grown);
      else {
        retire();
        const { nanoUsd, tokens } = grown;
        current = new Lease(grown.id, { nanoUsd, tokens }, Math.min(MAX_AGE_MS, grown.usableMs ?? MAX_AGE_MS), nowMs);
      }
      return grown;
    } finally {
      growing = null;
    }
  };

  return {
    take: async (need) => {
      for (let hasWaited = false; ; ) {
        if (current !== null && !current.isUsable()) retire();
        const lease: Lease | null = current;
        if (lease?.take(need) === true) return { ok: true, lease };
        // Whoever waits for another's growth looks again before asking for more.
        if (growing !== null) {
          await growing;
          continue;
        }
        const grown = await grow(need, !hasWaited && performance.now() - askedAtMs >= ASK_EVERY_MS);
        if (grown.ok) continue;
        if (hasWaited || !(await returned(grown.isAsked))) return { ok: false, exceeded: grown.exceeded };
        hasWaited = true;
      }
    },
    leases: () => [...(current === null ? [] : [current]), ...retired],
    retireIdle: (forMs) => {
      if (current?.isIdle(forMs) === true) retire();
    },
    giveBack: async () => {
      // Should another begin right behind it: it is judged by the rows alone, and only asks once more.
      if (growing !== null) await growing;
      const lease: Lease | null = current;
      if (lease === null || (lease.left.nanoUsd <= 0n && lease.left.tokens <= 0n)) return;
      const rest = lease.left;
      lease.add({ nanoUsd: -rest.nanoUsd, tokens: -rest.tokens });
      // Where this fails it goes back with the lease's end, which the row alone decides.
      const shrinking = shrinkLease(database, lease.id, rest);
      growing = shrinking.catch(() => undefined);
      try {
        await shrinking;
      } finally {
        growing = null;
      }
    },
    done: () => [...retired].filter((lease) => !lease.isRunning),
    forget: (gone) => {
      if (current !== null && gone.has(current.id)) current = null;
      for (const lease of retired) if (gone.has(lease.id)) retired.delete(lease);
    },
  };
}
