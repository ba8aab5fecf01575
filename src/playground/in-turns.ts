// Runs a cooperative task (`lib/concurrency/cooperative-task`) in slices, so that the page stays responsive.
import type { CooperativeTask } from "../lib/concurrency/cooperative-task.ts";

/** Longest slice, plus one step: one frame. */
const TURN_MS = 12;

export async function inTurns<T>(steps: CooperativeTask<T>): Promise<T> {
  for (let beganMs = performance.now(); ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - beganMs < TURN_MS) continue;
    await new Promise((done) => setTimeout(done));
    beganMs = performance.now();
  }
}
