// Work that is done again and again while a process runs: one turn at a time, a failure logged and made up for by the next turn.
import type { Logger } from "pino";

/** Runs `work` every so often, never twice at once; a failure is logged and tried again at the next turn. */
export function every(
  periodMs: number,
  logger: Logger,
  what: string,
  work: () => Promise<void>,
): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = work()
      .catch((error: unknown) => logger.error({ task: what, err: error }, `could not ${what}`))
      .finally(() => {
        busy = false;
      });
  }, periodMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
