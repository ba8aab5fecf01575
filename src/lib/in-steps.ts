// Runs what `steps.ts` describes over many turns of the event loop.
import { setImmediate } from "node:timers/promises";
import type { Steps } from "./steps.ts";

/** So long the loop is held at most, and one step. */
const TURN_MS = 10;

/** Others have their turn before what comes next. */
export function giveWay(): Promise<void> {
  return setImmediate();
}

/** Whoever waits for something else meanwhile does not wait for all of it. */
export async function inSteps<T>(steps: Steps<T>): Promise<T> {
  for (let beganMs = performance.now(); ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - beganMs < TURN_MS) continue;
    await giveWay();
    beganMs = performance.now();
  }
}
