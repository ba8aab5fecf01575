// So many at once, and so many of one kind: who comes later waits in line until a place is free or it is told to stop.

export interface Places {
  within<T>(kind: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createPlaces(most: { readonly total: number; readonly perKind: number }): Places {
  const running = new Map<string, number>();
  const line: { readonly kind: string; readonly go: () => void }[] = [];
  let total = 0;

  const isFree = (kind: string): boolean => total < most.total && (running.get(kind) ?? 0) < most.perKind;

  function take(kind: string): void {
    total++;
    running.set(kind, (running.get(kind) ?? 0) + 1);
  }

  function leave(kind: string): void {
    total--;
    const left = (running.get(kind) ?? 1) - 1;
    if (left === 0) running.delete(kind);
    else running.set(kind, left);
    const next = line.findIndex((waiting) => isFree(waiting.kind));
    for (const { kind: chosen, go } of next < 0 ? [] : line.splice(next, 1)) {
      take(chosen);
      go();
    }
  }

  async function enter(kind: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (isFree(kind)) return take(kind);
    const turn = Promise.withResolvers<void>();
    const waiting = { kind, go: turn.resolve };
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
    within: async (kind, signal, work) => {
      await enter(kind, signal);
      try {
        return await work();
      } finally {
        leave(kind);
      }
    },
  };
}
