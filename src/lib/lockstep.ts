// What became ready in one look at the sockets goes on side by side: whenever one of them awaits, the next takes the same step. The
// processor then has each step's code at hand for all but the first of them (docs/measurements.md).

/** Fewer wait for a second look, which costs next to nothing where there is nobody else. */
const COMPANY = 24;

/** Does what it is given at the end of a turn of the event loop, or of the next one, in the order given. */
export function createLockstep(): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  let looks = 0;
  const turn = (): void => {
    looks += 1;
    if (looks === 1 && waiting.length < COMPANY) {
      setImmediate(turn);
      return;
    }
    const now = waiting;
    waiting = [];
    looks = 0;
    for (const work of now) work();
  };
  return (work) => {
    if (waiting.push(work) === 1) setImmediate(turn);
  };
}
