// The leases of one app in this process: the one that is spent, and replaced ones whose calls are still under way (contract 9).
import { setTimeout as pause } from "node:timers/promises";
import type { LeaseOwner } from "../storage/budget-leases.ts";
import type { Database } from "../storage/database.ts";
import type { Soon } from "../lib/soon.ts";
import type { BudgetExceeded } from "./budget.ts";
import { type Grown, growLease, shrinkLease, type Slice } from "./grow-lease.ts";
import { Lease } from "./lease.ts";

export type Taken =
  | { readonly ok: true; readonly lease: Lease }
  | { readonly ok: false; readonly exceeded: BudgetExceeded };

export interface LeasePool {
  take(need: Slice): Soon<Taken>;
  /** Nothing more is being taken from the budgets. */
  grown(): Promise<void>;
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
/** How many calls a slice is for, at least and at most; one that was spent in less than a second is followed by one twice as large. */
const MIN_CALLS = 256n;
const MAX_CALLS = 16_384n;
const GROW_EVERY_MS = 1_000;
/** After so long without another growth a slice is small again. */
const CALM_MS = 8_000;
/** So long others have to give back what was asked for; it is asked for at most once a second, or a spent budget would cost them more. */
const RETURN_MS = 150;
const ASK_EVERY_MS = 1_000;

export function createLeasePool(database: Database, owner: LeaseOwner, holder: string, nowMs: () => number): LeasePool {
  let current: Lease | null = null;
  let growing: Promise<unknown> | null = null;
  const pace = createPace(nowMs);
  const retired = new Set<Lease>();
  const others = createOthers();

  const retire = (): void => {
    if (current !== null) retired.add(current);
    current = null;
  };

  const grown = async (): Promise<void> => {
    for (let asked = growing; asked !== null; asked = growing) await asked;
  };

  const begin = ({ id, usableMs }: Grown & { readonly ok: true }): Lease => {
    retire();
    current = new Lease(id, Math.min(MAX_AGE_MS, usableMs ?? MAX_AGE_MS), nowMs);
    return current;
  };

  /** `before` null: another takes the place of the one that is spent. */
  const grow = async (before: Lease | null, need: Slice, asksOthers: boolean): Promise<Grown> => {
    const asked = growLease(database, {
      owner,
      holder,
      lease: before === null ? null : { id: before.id, ...before.left },
      need,
      calls: pace.calls(),
      asksOthers,
    });
    growing = asked.catch(() => undefined);
    try {
      const more = await asked;
      if (!more.ok) {
        // Before anybody who waited for this growth goes on, and would ask too.
        if (more.isAsked) others.asked();
        return more;
      }
      const lease = before?.id === more.id ? before : begin(more);
      lease.grow(more, need);
      pace.grown();
      return more;
    } finally {
      growing = null;
    }
  };

  /** So that no call waits for it. Whoever is refused, or finds the database gone, hears of it when it is needed. */
  const growAhead = (lease: Lease, need: Slice): void => {
    if (growing !== null || !lease.isDue) return;
    lease.asked();
    grow(lease.isEnding() ? null : lease, need, false).catch(() => undefined);
  };

  /** From what is held; null: it is not enough. */
  const takeHeld = (need: Slice): Lease | null => {
    if (current !== null && !current.isUsable()) retire();
    const lease: Lease | null = current;
    if (lease?.take(need) !== true) return null;
    growAhead(lease, need);
    return lease;
  };

  const takeMore = async (need: Slice): Promise<Taken> => {
    for (let hasWaited = false; ; ) {
      // Whoever waits for another's growth looks again before asking for more.
      if (growing !== null) await growing;
      else {
        const more = await grow(current, need, !hasWaited && others.mayBeAsked());
        if (!more.ok) {
          if (hasWaited || !(await others.gaveBack())) return { ok: false, exceeded: more.exceeded };
          hasWaited = true;
        }
      }
      const lease = takeHeld(need);
      if (lease !== null) return { ok: true, lease };
    }
  };

  return {
    take: (need) => {
      const lease = takeHeld(need);
      return lease === null ? takeMore(need) : { ok: true, lease };
    },
    grown,
    leases: () => [...(current === null ? [] : [current]), ...retired],
    retireIdle: (forMs) => {
      if (current?.isIdle(forMs) === true) retire();
    },
    giveBack: async () => {
      await grown();
      const lease: Lease | null = current;
      if (lease === null || (lease.left.nanoUsd <= 0n && lease.left.tokens <= 0n)) return;
      const rest = lease.empty();
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

/** How many calls the next slice is for. */
function createPace(nowMs: () => number) {
  let calls = MIN_CALLS;
  let grownAtMs = Number.NEGATIVE_INFINITY;
  return {
    calls: (): bigint => {
      const sinceMs = nowMs() - grownAtMs;
      if (sinceMs >= CALM_MS) calls = MIN_CALLS;
      else if (sinceMs < GROW_EVERY_MS && calls < MAX_CALLS) calls *= 2n;
      return calls;
    },
    grown: (): void => {
      grownAtMs = nowMs();
    },
  };
}

/** Other processes, which may hold what a call here is in want of. */
function createOthers() {
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let returning: Promise<void> | null = null;
  return {
    mayBeAsked: (): boolean => performance.now() - askedAtMs >= ASK_EVERY_MS,
    asked: (): void => {
      askedAtMs = performance.now();
      returning = pause(RETURN_MS, undefined, { ref: false }).finally(() => {
        returning = null;
      });
    },
    /** False: nothing is on its way back. */
    gaveBack: async (): Promise<boolean> => {
      if (returning === null) return false;
      await returning;
      return true;
    },
  };
}
