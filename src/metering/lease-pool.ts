// The leases of one app in this process: the current one, and replaced ones whose calls are in flight [metering.lease-lifetime].
import type { LeaseOwner } from "../storage/budget-leases.ts";
import type { Database } from "../storage/database.ts";
import type { MaybePromise } from "../lib/concurrency/maybe-promise.ts";
import type { BudgetExceeded } from "./budget.ts";
import { type Grown, growLease, NOTHING, shrinkLeases, type Slice } from "./grow-lease.ts";
import { Lease } from "./lease.ts";
import type { LeaseReclaimer, Reclaimable } from "./lease-reclaimer.ts";

export type Taken =
  | { readonly ok: true; readonly lease: Lease }
  | { readonly ok: false; readonly exceeded: BudgetExceeded };

/** What is not in use goes back at once with `giveBack`: somebody else is in want of it. */
export interface LeasePool extends Reclaimable {
  take(need: Slice): MaybePromise<Taken>;
  /** Nothing more is being taken from the budgets. */
  grown(): Promise<void>;
  /** All that must be renewed. */
  leases(): readonly Lease[];
  /** Those that are to be closed at once. */
  retireIdle(forMs: number): void;
  /** What calls of replaced leases did not use. */
  giveBackRetired(): Promise<void>;
  /** Retired ones without a call under way: to be closed and then forgotten. */
  done(): readonly Lease[];
  /** They were closed, or lapsed and counted as spent; nothing more is taken from them. */
  forget(gone: ReadonlySet<string>): void;
}

export interface LeasePoolOptions {
  readonly database: Database;
  readonly owner: LeaseOwner;
  readonly holder: string;
  readonly reclaimer: LeaseReclaimer;
  readonly nowMs: () => number;
}

/** Budgets that are set or lowered meanwhile hold within this time for what is paid from leases. */
const MAX_AGE_MS = 60_000;
/** How many calls a slice is for, at least and at most; one that was spent in less than a second is followed by one twice as large. */
const MIN_CALLS = 256n;
const MAX_CALLS = 16_384n;
const GROW_EVERY_MS = 1_000;
/** After so long without another growth a slice is small again. */
const CALM_MS = 8_000;

export function createLeasePool({ database, owner, holder, reclaimer, nowMs }: LeasePoolOptions): LeasePool {
  let current: Lease | null = null;
  const changes = createChanges();
  const pace = createPace(nowMs);
  const retired = new Set<Lease>();

  const leases = (): readonly Lease[] => [...(current === null ? [] : [current]), ...retired];

  const giveBack = async (from: () => Iterable<Lease>): Promise<void> => {
    while (changes.underWay() !== null) await changes.underWay();
    const rests = [...from()].flatMap((lease) => (lease.hasRest ? [{ id: lease.id, ...lease.empty() }] : []));
    if (rests.length === 0) return;
    // Where this fails it goes back with the lease's end, which the row alone decides.
    const returning = changes.make(() => shrinkLeases(database, rests));
    reclaimer.returns(returning);
    await returning;
  };

  const retire = (): void => {
    if (current !== null) retired.add(current);
    current = null;
  };

  /** What is left of one that is spent no more is not kept for as long as its calls run. Whoever finds the database gone hears of it. */
  const replace = (): void => {
    retire();
    giveBack(() => retired).catch(() => undefined);
  };

  const begin = ({ id, usableMs }: Grown & { readonly ok: true }): Lease => {
    replace();
    current = new Lease(id, Math.min(MAX_AGE_MS, usableMs), nowMs);
    return current;
  };

  /** `before` null: another takes the place of the one that is spent. */
  const grow = (before: Lease | null, need: Slice): Promise<Grown> =>
    changes.make(async () => {
      const lease = before === null ? null : { id: before.id, ...before.left };
      const calls = reclaimer.isReclaiming(owner) ? 0n : pace.calls();
      const more = await growLease(database, { owner, holder, lease, need, calls });
      if (more.ok) {
        (before?.id === more.id ? before : begin(more)).grow(more, need);
        pace.grown();
      } else if (more.isOver && current === before) replace();
      return more;
    });

  /** So that no call waits for it. Whoever is refused, or finds the database gone, hears of it when it is needed. */
  const growAhead = (lease: Lease, need: Slice): void => {
    if (changes.underWay() !== null || !lease.isDue || reclaimer.isReclaiming(owner)) return;
    lease.asked();
    grow(lease.isEnding() ? null : lease, need).catch(() => undefined);
  };

  /** From what is held; null: it is not enough. */
  const takeHeld = (need: Slice): Lease | null => {
    if (current !== null && !current.isUsable()) replace();
    const lease: Lease | null = current;
    if (lease?.take(need) !== true) return null;
    growAhead(lease, need);
    return lease;
  };

  const takeMore = async (need: Slice): Promise<Taken> => {
    for (;;) {
      let more: Grown | null = null;
      // Whoever waits for another's growth looks again before asking for more.
      const underWay = changes.underWay();
      if (underWay !== null) await underWay;
      else more = await grow(current, need);
      const lease = takeHeld(need);
      if (lease !== null) return { ok: true, lease };
      if (more?.ok === false) return { ok: false, exceeded: more.exceeded };
    }
  };

  const pool: LeasePool = {
    owner,
    take: (need) => {
      const lease = takeHeld(need);
      if (lease !== null) return { ok: true, lease };
      return reclaimer.reserve(
        owner,
        () => takeMore(need),
        () => current?.left ?? NOTHING,
      );
    },
    grown: async () => {
      while (changes.underWay() !== null) await changes.underWay();
    },
    leases,
    retireIdle: (forMs) => {
      if (current?.isIdle(forMs) === true) retire();
    },
    reclaimable: () =>
      leases().reduce(
        (sum, { left }) => ({ nanoUsd: sum.nanoUsd + left.nanoUsd, tokens: sum.tokens + left.tokens }),
        NOTHING,
      ),
    giveBack: () => giveBack(leases),
    giveBackRetired: () => giveBack(() => retired),
    done: () => [...retired].filter((lease) => !lease.isRunning),
    forget: (gone) => {
      if (current !== null && gone.has(current.id)) current = null;
      for (const lease of retired) if (gone.has(lease.id)) retired.delete(lease);
    },
  };
  reclaimer.add(pool);
  return pool;
}

/** Of what the budgets hold for a pool one change is made at a time: what a growth counts on is not given back meanwhile. */
function createChanges() {
  let underWay: Promise<unknown> | null = null;
  return {
    /** Whoever has waited for one looks again before he makes another. */
    underWay: () => underWay,
    /** Those who wait go on when it has come to its end, whatever that is. */
    make: async <T>(begin: () => Promise<T>): Promise<T> => {
      const begun = begin();
      underWay = begun.catch(() => undefined);
      try {
        return await begun;
      } finally {
        underWay = null;
      }
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
