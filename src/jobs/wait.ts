// Waiting for news of one job: the queue's notifications are a hint, so whoever waits looks again now and then all the same.
import type { Queue } from "../queue/queue.ts";

export interface JobNews {
  /** Resolves at news since the last call, after so long, or when the signal aborts. */
  next(milliseconds: number, signal: AbortSignal): Promise<void>;
  stop(): void;
}

export function newsOf(queue: Pick<Queue, "subscribe">, topic: string): JobNews {
  let isNews = false;
  let wake: (() => void) | null = null;
  const stop = queue.subscribe((heard) => {
    if (heard !== null && heard !== topic) return;
    isNews = true;
    wake?.();
  });
  return {
    next: (milliseconds, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          wake = null;
          isNews = false;
          resolve();
        };
        const timer = setTimeout(done, milliseconds);
        if (isNews || signal.aborted) return done();
        wake = done;
        signal.addEventListener("abort", done, { once: true });
        return undefined;
      }),
    stop,
  };
}
