// Runs a cooperative task over several event-loop ticks, so that a long computation blocks no other request.
import { setImmediate } from "node:timers/promises";
import type { CooperativeTask } from "./cooperative-task.ts";

/** A tick is held for this long and one more step. */
const MAX_TICK_MS = 10;

export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}

export async function runCooperatively<T>(task: CooperativeTask<T>): Promise<T> {
  for (let startedMs = performance.now(); ; ) {
    const step = task.next();
    if (step.done === true) return step.value;
    if (performance.now() - startedMs < MAX_TICK_MS) continue;
    await yieldToEventLoop();
    startedMs = performance.now();
  }
}
