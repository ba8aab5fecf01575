// Long computations as generators that yield every few milliseconds. Pure: browsers load this module too.

export type CooperativeTask<T> = Generator<void, T, void>;

/** List items between two yields. */
export const CHUNK_SIZE = 1_000;

export function* flatMapCooperatively<T, U>(
  items: readonly T[],
  make: (item: T, index: number) => readonly U[],
): CooperativeTask<U[]> {
  const made: U[] = [];
  for (const [index, item] of items.entries()) {
    for (const each of make(item, index)) made.push(each);
    if (index % CHUNK_SIZE === CHUNK_SIZE - 1) yield;
  }
  return made;
}

export function* mapCooperatively<T, U>(
  items: readonly T[],
  make: (item: T, index: number) => U,
): CooperativeTask<U[]> {
  const made: U[] = [];
  for (const [index, item] of items.entries()) if (made.push(make(item, index)) % CHUNK_SIZE === 0) yield;
  return made;
}

/** For callers that may block, such as a worker thread or a browser. */
export function runToCompletion<T>(task: CooperativeTask<T>): T {
  for (;;) {
    const step = task.next();
    if (step.done === true) return step.value;
  }
}
