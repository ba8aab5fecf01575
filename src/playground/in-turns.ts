// Runs what `lib/concurrency/cooperative-task` describes while the page goes on.
import type { CooperativeTask } from "../lib/concurrency/cooperative-task.ts";

/** So long the page stands still at most, and one step: a frame. */
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
