// Waits without a clock: for a condition, or for other scheduled work.
import { setImmediate as turn } from "node:timers/promises";

/** Checks at each turn of the event loop; the test runner's timeout ends an endless wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

/** Counts event-loop turns from now on; the first call returns the count and ends it. */
export function countTurns(): () => number {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  return () => {
    isOver = true;
    return turns;
  };
}
