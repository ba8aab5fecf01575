// Work that its caller may have stopped waiting for: whoever closes what it needs waits for its end, however it ends.
import { setImmediate } from "node:timers/promises";

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
  const ended = async (): Promise<void> => {
    if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    // What work leads to, as an answer to its being sent, is added a little after its end.
    await setImmediate();
    if (count > 0) await ended();
  };
  return {
    add: (work) => {
      count += 1;
      work.then(over, over);
    },
    ended,
  };
}
