// Long computations that give way: written as a generator that yields now and then, run in one go or over many turns of the event loop.
import { setImmediate } from "node:timers/promises";

/** Between two yields it takes a few milliseconds at most. */
export type Steps<T> = Generator<void, T, void>;

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

/** Items of a list between two yields. */
export const AT_A_TIME = 1_000;

export function* flatMapped<T, U>(items: readonly T[], make: (item: T, index: number) => readonly U[]): Steps<U[]> {
  const made: U[] = [];
  for (const [index, item] of items.entries()) {
    for (const each of make(item, index)) made.push(each);
    if (index % AT_A_TIME === AT_A_TIME - 1) yield;
  }
  return made;
}

export function* mapped<T, U>(items: readonly T[], make: (item: T, index: number) => U): Steps<U[]> {
  const made: U[] = [];
  for (const [index, item] of items.entries()) if (made.push(make(item, index)) % AT_A_TIME === 0) yield;
  return made;
}

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
