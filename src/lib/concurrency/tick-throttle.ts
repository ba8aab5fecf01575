// Limits how many queued callbacks run in one event-loop tick, so that thousands of them do not block other requests.

const NONE: readonly (() => void)[] = [];

/** Returns a function that queues a callback. From the next tick on, up to `perTick` run in each, in order: 0 in a tick that shall run none. */
export function createTickThrottle(perTick: () => number): (work: () => void) => void {
  const queue: (() => void)[] = [];
  const tick = (): void => {
    const count = perTick();
    const ready = count === 0 ? NONE : queue.splice(0, count);
    if (queue.length > 0) setImmediate(tick);
    for (const work of ready) work();
  };
  return (work) => {
    if (queue.push(work) === 1) setImmediate(tick);
  };
}
