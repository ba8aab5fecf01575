// What became ready in one look at the sockets goes on side by side: whenever one of them awaits, the next takes the same step. The
// processor then has each step's code at hand for all but the first of them (docs/measurements.md).
import { gradually } from "./gradually.ts";

/** So many turns are waited for others, one after the other. */
const MAX_HELD = 32;

/**
 * Does what it is given in one turn of the event loop at its end, in the order given; at the end of the next one while `mayWait` says at each
 * end that others are on their way.
 */
export function createLockstep(mayWait: () => boolean = () => false): (work: () => void) => void {
  let held = 0;
  return gradually(Number.POSITIVE_INFINITY, () => {
    const isHeld = held < MAX_HELD && mayWait();
    held = isHeld ? held + 1 : 0;
    return isHeld;
  });
}
