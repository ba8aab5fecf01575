// Work that its caller may have stopped waiting for: whoever closes what it needs waits for its end, however it ends.

export interface UnderWay {
  add(work: Promise<unknown>): void;
  /** Resolves when nothing is left, what was added meanwhile included. */
  ended(): Promise<void>;
}

export function createUnderWay(): UnderWay {
  const running = new Set<Promise<unknown>>();
  return {
    add: (work) => {
      running.add(work);
      const forget = (): void => void running.delete(work);
      work.then(forget, forget);
    },
    ended: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
