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

const NO_OWNER = "";

export function createKeyedSemaphore(limits: ConcurrencyLimits): KeyedSemaphore {
  const byKind = createCounter();
  const byOwner = createCounter();
  const roundRobin = createRoundRobin();
  const queue: (Permit & { readonly go: () => void })[] = [];
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
    total--;
    byKind.add(kind, -1);
    byOwner.add(owner, -1);
    // A waiter of the same kind and another of the same owner may both have waited for this permit alone.
    while (total < limits.total) {
      const next = roundRobin.next(queue.filter(isAvailable));
      if (next === undefined) return;
      queue.splice(queue.indexOf(next), 1);
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
    queue.push(waiter);
    const onAbort = (): void => {
      const at = queue.indexOf(waiter);
      // Too late once the permit was granted: its holder looks at the signal itself.
      if (at < 0) return;
      queue.splice(at, 1);
      turn.reject(signal.reason);
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
