// What became ready in one look at the sockets goes on side by side: whenever one of them awaits, the next takes the same step. The
// processor then has each step's code at hand for all but the first of them (docs/measurements.md).
import { gradually } from "./gradually.ts";

/** Does what it is given in one turn of the event loop at its end, in the order given. */
export function createLockstep(): (work: () => void) => void {
  return gradually(Number.POSITIVE_INFINITY);
}
