// Wakes a queue's dispatcher when a deferred message of this process is due. Polling alone notices it up to one poll late, which is
// 40 % of a webhook's first retry delay. A message of a process that has stopped meanwhile is noticed by the polls of the others.

/** Beyond it a poll is early enough, and a timer would be held for hours. */
const MAX_DELAY_SECONDS = 60;
/** Messages that are due within one tick share a timer. */
const TICK_MS = 20;

export interface DueWakes {
  after(seconds: number): void;
  stop(): void;
}

export function createDueWakes(wake: () => void, nowMs: () => number = () => performance.now()): DueWakes {
  const timers = new Map<number, NodeJS.Timeout>();
  return {
    after(seconds) {
      if (seconds > MAX_DELAY_SECONDS) return;
      const tick = Math.ceil((nowMs() + seconds * 1000) / TICK_MS) + 1;
      if (timers.has(tick)) return;
      const timer = setTimeout(
        () => {
          timers.delete(tick);
          wake();
        },
        Math.max(0, tick * TICK_MS - nowMs()),
      );
      timer.unref();
      timers.set(tick, timer);
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
