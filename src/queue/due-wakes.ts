// Wakes a queue's dispatcher when a message that this process deferred is due, because polling may notice it one poll late, which is
// 40 % of a webhook's first retry delay. If this process stops meanwhile, another process's polling finds the message.

/** For a longer delay, polling is precise enough, and a timer would be held for hours. */
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
