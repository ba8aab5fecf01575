// Repeats work in bounded batches, so that other work gets its turn and a shutdown waits for one batch at most.

/** Repeats `work`, which handles up to `batchSize` items and returns how many, until a batch is not full or `stopping` aborts. Returns the total. */
export async function runInBatches(
  batchSize: number,
  work: () => Promise<number>,
  stopping?: AbortSignal,
): Promise<number> {
  for (let total = 0; ; ) {
    if (stopping?.aborted === true) return total;
    const count = await work();
    total += count;
    if (count < batchSize) return total;
  }
}
