// Limits how many queued callbacks run in one event-loop tick, so that thousands of them do not block other requests.

/** Returns a function that queues a callback. From the next tick on, up to `perTick` run in each, in order; none in a tick for which `isHeld` returns true. */
export function createTickThrottle(perTick: number, isHeld: () => boolean = () => false): (work: () => void) => void {
  let queue: (() => void)[] = [];
  const tick = (): void => {
    if (isHeld()) {
      setImmediate(tick);
      return;
    }
    const ready = queue.slice(0, perTick);
    queue = queue.slice(perTick);
    if (queue.length > 0) setImmediate(tick);
    for (const work of ready) work();
  };
  return (work) => {
    if (queue.push(work) === 1) setImmediate(tick);
  };
}
