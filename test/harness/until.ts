// Waiting without a clock: for a condition, and for what others were given to do meanwhile.
import { setImmediate as turn } from "node:timers/promises";

/** Looks again at each turn of the event loop; the runner's own limit ends a wait that has no end. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

/** Counts the turns of the event loop from now on; the answer to the first call is how many there were, and the count ends. */
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
