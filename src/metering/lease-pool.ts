// The leases of one app in this process: the one that is spent, and replaced ones whose calls are still under way (contract 9).
import type { LeaseId } from "../contract/ids.ts";
import type { LeaseOwner } from "../storage/budget-leases.ts";
import type { Database } from "../storage/database.ts";
import type { BudgetExceeded } from "./budget.ts";
import { type Grown, growLease, type Slice } from "./grow-lease.ts";

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
  /** Retired ones without a call under way: to be closed and then forgotten. */
  done(): readonly Lease[];
  /** They were closed, or lapsed and counted as spent; nothing more is taken from them. */
  forget(gone: ReadonlySet<string>): void;
}

/** Budgets that are set or lowered meanwhile hold within this time for what is paid from leases. */
const MAX_AGE_MS = 60_000;

export function createLeasePool(database: Database, owner: LeaseOwner, holder: string, nowMs: () => number): LeasePool {
  let current: Lease | null = null;
  let growing: Promise<unknown> | null = null;
  const retired = new Set<Lease>();

  const retire = (): void => {
    if (current !== null) retired.add(current);
    current = null;
  };

  const grow = async (need: Slice): Promise<Grown> => {
    const before = current;
    const asked = growLease(database, {
      owner,
      holder,
      lease: before === null ? null : { id: before.id, ...before.left },
      need,
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
      for (;;) {
        if (current !== null && !current.isUsable()) retire();
        const lease: Lease | null = current;
        if (lease?.take(need) === true) return { ok: true, lease };
        // Whoever waits for another's growth looks again before asking for more.
        if (growing !== null) {
          await growing;
          continue;
        }
        const grown = await grow(need);
        if (!grown.ok) return grown;
      }
    },
    leases: () => [...(current === null ? [] : [current]), ...retired],
    retireIdle: (forMs) => {
      if (current?.isIdle(forMs) === true) retire();
    },
    done: () => [...retired].filter((lease) => !lease.isRunning),
    forget: (gone) => {
      if (current !== null && gone.has(current.id)) current = null;
      for (const lease of retired) if (gone.has(lease.id)) retired.delete(lease);
    },
  };
}
