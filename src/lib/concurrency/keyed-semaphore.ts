// A semaphore with three limits: total, per kind, per owner. Waiters are served round-robin by owner and can be aborted.
import { createRoundRobin } from "./round-robin.ts";

export interface KeyedSemaphore {
  /** Runs `work` once all limits allow it. Rejects with the signal's reason if it aborts while waiting. Without an owner, only the other limits apply. */
  run<T>(kind: string, signal: AbortSignal, work: () => Promise<T>, owner?: string): Promise<T>;
}

export interface ConcurrencyLimits {
  readonly total: number;
  readonly perKind: number;
  readonly perOwner?: number;
}

interface Permit {
  readonly kind: string;
  readonly owner: string;
}

interface Waiter extends Permit {
  readonly go: () => void;
}

const NO_OWNER = "";

export function createKeyedSemaphore(limits: ConcurrencyLimits): KeyedSemaphore {
  const byKind = createCounter();
  const byOwner = createCounter();
  const roundRobin = createRoundRobin();
  const queue = createQueue();
  let total = 0;

  const isAvailable = ({ kind, owner }: Permit): boolean =>
    total < limits.total &&
    byKind.count(kind) < limits.perKind &&
    (owner === NO_OWNER || byOwner.count(owner) < (limits.perOwner ?? Number.POSITIVE_INFINITY));

  function take({ kind, owner }: Permit): void {
    total++;
    byKind.add(kind, 1);
    byOwner.add(owner, 1);
  }

  function release({ kind, owner }: Permit): void {
    const isShared = total === limits.total || byKind.count(kind) === limits.perKind;
    total--;
    byKind.add(kind, -1);
    byOwner.add(owner, -1);
    // If neither other limit was reached, only waiters of the same owner may have waited for this permit: thousands of other owners need not be looked at.
    const waiting = isShared ? queue.all : queue.of(owner);
    // A waiter of the same kind and another of the same owner may both have waited for this permit alone.
    while (total < limits.total) {
      const next = roundRobin.next([...waiting].filter(isAvailable));
      if (next === undefined) return;
      queue.remove(next);
      take(next);
      next.go();
    }
  }

  async function acquire(permit: Permit, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (isAvailable(permit)) {
      roundRobin.markServed(permit.owner);
      return take(permit);
    }
    const turn = Promise.withResolvers<void>();
    const waiter = { ...permit, go: turn.resolve };
    queue.add(waiter);
    const onAbort = (): void => {
      // Too late once the permit was granted: its holder looks at the signal itself.
      if (queue.remove(waiter)) turn.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  return {
    run: async (kind, signal, work, owner = NO_OWNER) => {
      const permit = { kind, owner };
      await acquire(permit, signal);
      try {
        return await work();
      } finally {
        release(permit);
      }
    },
  };
}

/** Waiters in order of arrival, of all owners and of each. */
function createQueue() {
  const all = new Set<Waiter>();
  const byOwner = new Map<string, Set<Waiter>>();
  const of = (owner: string): ReadonlySet<Waiter> => byOwner.get(owner) ?? new Set();
  return {
    all,
    of,
    add: (waiter: Waiter): void => {
      all.add(waiter);
      const own = byOwner.get(waiter.owner) ?? new Set();
      byOwner.set(waiter.owner, own.add(waiter));
    },
    remove: (waiter: Waiter): boolean => {
      const own = byOwner.get(waiter.owner);
      own?.delete(waiter);
      if (own?.size === 0) byOwner.delete(waiter.owner);
      return all.delete(waiter);
    },
  };
}

function createCounter() {
  const counts = new Map<string, number>();
  return {
    count: (name: string): number => counts.get(name) ?? 0,
    add: (name: string, difference: 1 | -1): void => {
      const count = (counts.get(name) ?? 0) + difference;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    },
  };
}
