// Long computations that give way, written as generators that yield now and then. Pure: browsers run this as it stands.

/** Between two yields it takes a few milliseconds at most. */
export type Steps<T> = Generator<void, T, void>;

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

/** For whoever holds nobody up. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
