// A wait group: counts running work, so that a shutdown can wait for all of it.
import { setImmediate } from "node:timers/promises";

export interface WaitGroup {
  add(work: Promise<unknown>): void;
  /** Resolves when no work is running, including work that was added while waiting. */
  done(): Promise<void>;
}

export function createWaitGroup(): WaitGroup {
  let count = 0;
  let waiting: (() => void)[] = [];
  const onEnd = (): void => {
    count -= 1;
    if (count > 0) return;
    for (const wake of waiting) wake();
    waiting = [];
  };
  const done = async (): Promise<void> => {
    if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    // Work that follows from finished work, such as sending a response, is added shortly after it.
    await setImmediate();
    if (count > 0) await done();
  };
  return {
    add: (work) => {
      count += 1;
      work.then(onEnd, onEnd);
    },
    done,
  };
}
