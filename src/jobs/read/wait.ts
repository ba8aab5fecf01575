// Waits for changes of one job. The queue's notifications are only a hint, so every waiter also re-reads the job periodically.
import type { Queue } from "../../queue/queue.ts";

export interface JobNews {
  /** Resolves at a notification since the last call, after the timeout, or when the signal aborts. */
  next(milliseconds: number, signal: AbortSignal): Promise<void>;
  stop(): void;
}

export function newsOf(queue: Pick<Queue, "subscribe">, topics: readonly string[]): JobNews {
  let isNotified = false;
  let wake: (() => void) | null = null;
  const stop = queue.subscribe((notifiedTopic) => {
    if (notifiedTopic !== null && !topics.includes(notifiedTopic)) return;
    isNotified = true;
    wake?.();
  });
  return {
    next: (milliseconds, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          wake = null;
          isNotified = false;
          resolve();
        };
        const timer = setTimeout(done, milliseconds);
        if (isNotified || signal.aborted) return done();
        wake = done;
        signal.addEventListener("abort", done, { once: true });
        return undefined;
      }),
    stop,
  };
}
