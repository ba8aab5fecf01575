// Work that its caller may have stopped waiting for: whoever closes what it needs waits for its end, however it ends.

export interface UnderWay {
  add(work: Promise<unknown>): void;
  /** Resolves when nothing is left, what was added meanwhile included. */
  ended(): Promise<void>;
}

export function createUnderWay(): UnderWay {
  let count = 0;
  let waiting: (() => void)[] = [];
  const over = (): void => {
    count -= 1;
    if (count > 0) return;
    for (const wake of waiting) wake();
    waiting = [];
  };
  return {
    add: (work) => {
      count += 1;
      work.then(over, over);
    },
    ended: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
