// Splits asynchronous work over several event-loop ticks, so that it blocks no other request.
import { setImmediate } from "node:timers/promises";

/** How long a tick is held, plus one step. */
const TICK_MS = 8;

export interface TickBudget {
  isSpent(): boolean;
  /** Continues in a later tick. */
  renew(): Promise<void>;
}

export function createTickBudget(): TickBudget {
  let startedMs = performance.now();
  return {
    isSpent: () => performance.now() - startedMs >= TICK_MS,
    renew: async () => {
      await yieldToEventLoop();
      startedMs = performance.now();
    },
  };
}

export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
