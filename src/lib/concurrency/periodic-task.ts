// Runs a task periodically, one run at a time. A failure is logged, and the next run tries again.
import type { Logger } from "pino";

export interface PeriodicTask {
  /** Starts a run now. During a run, another follows it, which sees what happened meanwhile. */
  runNow(): void;
  stop(): Promise<void>;
}

/**
 * The first run is early by up to this share of the period. Tasks that are created together would otherwise run together ever after, each on a database connection
 * of its own, which costs the server 5 MiB.
 */
const SPREAD = 0.25;

/** Runs `work` every `periodMs`, never twice at once. `stop` aborts the signal of the current run and waits for its end. */
export function createPeriodicTask(
  periodMs: number,
  logger: Logger,
  what: string,
  work: (stopping: AbortSignal) => Promise<unknown>,
): PeriodicTask {
  let running: Promise<unknown> = Promise.resolve();
  let busy = false;
  let runsAgain = false;
  const stopping = new AbortController();
  const run = (): void => {
    busy = true;
    runsAgain = false;
    running = work(stopping.signal)
      .catch((error: unknown) => logger.error({ task: what, err: error }, `could not ${what}`))
      .finally(() => {
        busy = false;
        if (runsAgain && !stopping.signal.aborted) run();
      });
  };
  const tick = (): void => {
    if (!busy) run();
  };
  let timer = setInterval(
    () => {
      clearInterval(timer);
      timer = setInterval(tick, periodMs);
      timer.unref();
      tick();
    },
    periodMs * (1 - SPREAD * Math.random()),
  );
  timer.unref();
  return {
    runNow: () => {
      if (busy) runsAgain = true;
      else if (!stopping.signal.aborted) run();
    },
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await running;
    },
  };
}
