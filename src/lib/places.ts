// So many at once, so many of one kind, so many of one owner's: who comes later waits in line until a place is free or it is told to stop.
import { createFairTurns } from "./fair-turns.ts";

export interface Places {
  /** `owner`: among those who wait for the same, each owner has its turn; nobody's where it is not said. */
  within<T>(kind: string, signal: AbortSignal, work: () => Promise<T>, owner?: string): Promise<T>;
}

export interface Most {
  readonly total: number;
  readonly perKind: number;
  readonly perOwner?: number;
}

interface Place {
  readonly kind: string;
  readonly owner: string;
}

const NOBODY = "";

export function createPlaces(most: Most): Places {
  const ofKind = createCount();
  const ofOwner = createCount();
  const turns = createFairTurns();
  const line: (Place & { readonly go: () => void })[] = [];
  let total = 0;

  const isFree = ({ kind, owner }: Place): boolean =>
    total < most.total &&
    ofKind.of(kind) < most.perKind &&
    (owner === NOBODY || ofOwner.of(owner) < (most.perOwner ?? Number.POSITIVE_INFINITY));

  function take({ kind, owner }: Place): void {
    total++;
    ofKind.add(kind, 1);
    ofOwner.add(owner, 1);
  }

  function leave({ kind, owner }: Place): void {
    total--;
    ofKind.add(kind, -1);
    ofOwner.add(owner, -1);
    // One of its kind and one of its owner's, who are others, may both have waited for it alone.
    while (total < most.total) {
      const next = turns.next(line.filter(isFree));
      if (next === undefined) return;
      line.splice(line.indexOf(next), 1);
      take(next);
      next.go();
    }
  }

  async function enter(place: Place, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (isFree(place)) {
      turns.had(place.owner);
      return take(place);
    }
    const turn = Promise.withResolvers<void>();
    const waiting = { ...place, go: turn.resolve };
    line.push(waiting);
    const onAbort = (): void => {
      const at = line.indexOf(waiting);
      // Too late once the place was given: whoever got it looks at the signal itself.
      if (at < 0) return;
      line.splice(at, 1);
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
    within: async (kind, signal, work, owner = NOBODY) => {
      const place = { kind, owner };
      await enter(place, signal);
      try {
        return await work();
      } finally {
        leave(place);
      }
    },
  };
}

function createCount() {
  const counts = new Map<string, number>();
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add: (name: string, by: 1 | -1): void => {
      const count = (counts.get(name) ?? 0) + by;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    },
  };
}
