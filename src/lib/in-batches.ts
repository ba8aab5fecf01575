// Much of one kind, a little at a time, so that nothing else waits for long.

/**
 * Repeats `work`, which does at most `most` and answers how many, until it finds fewer or is told to stop: a process that ends waits for
 * one batch, and not for all that was left to do. Answers how many in all.
 */
export async function inBatches(most: number, work: () => Promise<number>, stopping?: AbortSignal): Promise<number> {
  for (let done = 0; ; ) {
    if (stopping?.aborted === true) return done;
    const count = await work();
    done += count;
    if (count < most) return done;
  }
}
