// Work that comes by the thousand in one turn of the event loop, spread over many: who asks for something meanwhile does not wait for all of it.

/** Does what it is given in the order given, so many pieces a turn, from the next turn on; none in a turn of which `isHeld` says so. */
export function gradually(perTurn: number, isHeld: () => boolean = () => false): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  const turn = (): void => {
    if (isHeld()) {
      setImmediate(turn);
      return;
    }
    const now = waiting.slice(0, perTurn);
    waiting = waiting.slice(perTurn);
    if (waiting.length > 0) setImmediate(turn);
    for (const work of now) work();
  };
  return (work) => {
    if (waiting.push(work) === 1) setImmediate(turn);
  };
}
