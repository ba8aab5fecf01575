// Work that is done again and again while a process runs: one turn at a time, a failure logged and made up for by the next turn.
import type { Logger } from "pino";

export interface Repeated {
  /** A turn at once; during one, another right after it, which sees what happened meanwhile. */
  soon(): void;
  stop(): Promise<void>;
}

/**
 * Runs `work` every so often, never twice at once; a failure is logged and tried again at the next turn. A stop waits for the turn that
 * runs, and tells it.
 */
export function every(
  periodMs: number,
  logger: Logger,
  what: string,
  work: (stopping: AbortSignal) => Promise<void>,
): Repeated {
  let running: Promise<void> = Promise.resolve();
  let busy = false;
  let again = false;
  const stopping = new AbortController();
  const turn = (): void => {
    busy = true;
    again = false;
    running = work(stopping.signal)
      .catch((error: unknown) => logger.error({ task: what, err: error }, `could not ${what}`))
      .finally(() => {
        busy = false;
        if (again && !stopping.signal.aborted) turn();
      });
  };
  const timer = setInterval(() => {
    if (!busy) turn();
  }, periodMs);
  timer.unref();
  return {
    soon: () => {
      if (busy) again = true;
      else if (!stopping.signal.aborted) turn();
    },
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await running;
    },
  };
}
