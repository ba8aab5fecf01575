// The leases of one app in this process: the current one, and replaced ones with calls in flight [metering.lease-lifetime].
import type { LeaseOwner } from "./store/budget-leases.ts";
import type { Database } from "../storage/database.ts";
import type { BudgetExceeded } from "./budget.ts";
import { type Grown, growLease, NOTHING, shrinkLeases, type Slice } from "./grow-lease.ts";
import { Lease } from "./lease.ts";
import type { LeaseReclaimer, Reclaimable } from "./lease-reclaimer.ts";

export type Taken =
  | { readonly ok: true; readonly lease: Lease }
  | { readonly ok: false; readonly exceeded: BudgetExceeded };

/** `giveBack` returns unused amounts to the budgets immediately, because another request needs them. */
export interface LeasePool extends Reclaimable {
  take(need: Slice): Promise<Taken>;
  /** Resolves when no growth is in progress. */
  grown(): Promise<void>;
  /** All leases that must be renewed. */
  leases(): readonly Lease[];
  /** Retires the current lease if it has been idle this long. */
  retireIdle(forMs: number): void;
  /** Returns what calls of replaced leases did not use. */
  giveBackRetired(): Promise<void>;
  /** Retired leases without a call in flight: close them, then call `forget`. */
  done(): readonly Lease[];
  /** Removes leases that were closed, or that lapsed and were counted as spent. */
  forget(gone: ReadonlySet<string>): void;
}

export interface LeasePoolOptions {
  readonly database: Database;
  readonly owner: LeaseOwner;
  readonly holder: string;
  readonly reclaimer: LeaseReclaimer;
  readonly nowMs: () => number;
}

/** A new or lower budget applies within this time to calls that leases pay for. */
const MAX_AGE_MS = 60_000;
/** Minimum and maximum number of calls that a slice is for. A slice that is spent within a second is followed by one twice as large. */
const MIN_CALLS = 256n;
const MAX_CALLS = 16_384n;
const GROW_EVERY_MS = 1_000;
/** After this long without growth a slice is small again. */
const CALM_MS = 8_000;

export function createLeasePool({ database, owner, holder, reclaimer, nowMs }: LeasePoolOptions): LeasePool {
  let current: Lease | null = null;
  const changes = createChanges();
  const pace = createPace(nowMs);
  const retired = new Set<Lease>();

  const leases = (): readonly Lease[] => [...(current === null ? [] : [current]), ...retired];

  const giveBack = async (from: () => Iterable<Lease>): Promise<void> => {
    while (changes.underWay() !== null) await changes.underWay();
    const remainders = [...from()].flatMap((lease) => (lease.hasRest ? [{ id: lease.id, ...lease.empty() }] : []));
    if (remainders.length === 0) return;
    // If this fails, the amounts are returned when the lease ends, because its row decides.
    const returning = changes.make(() => shrinkLeases(database, remainders));
    reclaimer.returns(returning);
    await returning;
  };

  const retire = (): void => {
    if (current !== null) retired.add(current);
    current = null;
  };

  /** Returns a replaced lease's remainder now, not when its calls end. A database failure is reported by the next growth. */
  const replace = (): void => {
    retire();
    giveBack(() => retired).catch(() => undefined);
  };

  const startLease = ({ id, usableMs }: Grown & { readonly ok: true }): Lease => {
    replace();
    current = new Lease(id, Math.min(MAX_AGE_MS, usableMs), nowMs);
    return current;
  };

  /** `before` null: a new lease replaces one that is spent or ending. */
  const grow = (previous: Lease | null, need: Slice): Promise<Grown> =>
    changes.make(async () => {
      const lease = previous === null ? null : { id: previous.id, ...previous.left };
      const calls = reclaimer.isReclaiming(owner) ? 0n : pace.calls();
      const growth = await growLease(database, { owner, holder, lease, need, calls });
      if (growth.ok) {
        (previous?.id === growth.id ? previous : startLease(growth)).grow(growth, need);
        pace.grown();
      } else if (growth.isOver && current === previous) replace();
      return growth;
    });

  /** Grows in the background, so that no call waits for it. A refusal or failure is reported by the growth that a call needs. */
  const growAhead = (lease: Lease, need: Slice): void => {
    if (changes.underWay() !== null || !lease.isDue || reclaimer.isReclaiming(owner)) return;
    lease.asked();
    grow(lease.isEnding() ? null : lease, need).catch(() => undefined);
  };

  /** Takes from the current lease. Null: it has too little. */
  const takeFromCurrent = (need: Slice): Lease | null => {
    if (current !== null && !current.isUsable()) replace();
    const lease: Lease | null = current;
    if (lease?.take(need) !== true) return null;
    growAhead(lease, need);
    return lease;
  };

  const takeWithGrowth = async (need: Slice): Promise<Taken> => {
    for (;;) {
      let growth: Grown | null = null;
      // After waiting for another call's growth, look again before growing.
      const underWay = changes.underWay();
      if (underWay !== null) await underWay;
      else growth = await grow(current, need);
      const lease = takeFromCurrent(need);
      if (lease !== null) return { ok: true, lease };
      if (growth?.ok === false) return { ok: false, exceeded: growth.exceeded };
    }
  };

  const pool: LeasePool = {
    owner,
    take: async (need) => {
      const lease = takeFromCurrent(need);
      if (lease !== null) return { ok: true, lease };
      return reclaimer.reserve(
        owner,
        () => takeWithGrowth(need),
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

/** Serialises the changes of a pool's holdings, so that what a growth counts on is not returned meanwhile. */
function createChanges() {
  let underWay: Promise<unknown> | null = null;
  return {
    /** After waiting for it, look again before making a change. */
    underWay: () => underWay,
    /** Waiters continue when the change has ended, whether it succeeded or failed. */
    make: async <T>(start: () => Promise<T>): Promise<T> => {
      const change = start();
      underWay = change.catch(() => undefined);
      try {
        return await change;
      } finally {
        underWay = null;
      }
    },
  };
}

/** Chooses how many calls the next slice is for. */
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
