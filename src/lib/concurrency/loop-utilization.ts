// How much of its time this thread's event loop has been running code lately.
import { type EventLoopUtilization, performance } from "node:perf_hooks";

const SAMPLE_MS = 50;

/** Returns a function that returns a share from 0 to 1: that of the last 50 ms or more in which it was called. 0 before. */
export function createLoopUtilization(
  read: () => EventLoopUtilization = () => performance.eventLoopUtilization(),
): () => number {
  let before = read();
  let share = 0;
  return () => {
    const now = read();
    const idle = now.idle - before.idle;
    const active = now.active - before.active;
    if (idle + active < SAMPLE_MS) return share;
    before = now;
    share = active / (idle + active);
    return share;
  };
}
