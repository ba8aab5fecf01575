// Much of one kind, a little at a time, so that nothing else waits for long.

/** Repeats `work`, which does at most `most` and answers how many, until it finds fewer. Answers how many in all. */
export async function inBatches(most: number, work: () => Promise<number>): Promise<number> {
  for (let done = 0; ; ) {
    const count = await work();
    done += count;
    if (count < most) return done;
  }
}
