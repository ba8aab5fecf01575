// Collects calls made while a batch is running into the next batch, so that one transaction serves many callers.
import { setTimeout as wait, setImmediate as nextTick } from "node:timers/promises";

export interface BatchOptions<Item> {
  readonly maxItems: number;
  /** Of all items of a batch together. One that is heavier is a batch of its own. */
  readonly maxWeight?: number;
  readonly weightOf?: (item: Item) => number;
  /** Pause after a batch of several items, as a multiple of its duration. A call that comes later starts at once. */
  readonly pauseFactor?: number;
  /** Whether one bad item caused the failure of its batch: then each item is run alone. */
  readonly isItemFault: (error: unknown) => boolean;
}

/** Upper bound of the pause. */
const MAX_PAUSE_MS = 15;

/** Calls `run` with items in order of arrival, one batch at a time. It must return the results in the same order. */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  {
    maxItems,
    maxWeight = Number.POSITIVE_INFINITY,
    weightOf = () => 0,
    pauseFactor = 0,
    isItemFault,
  }: BatchOptions<Item>,
): (item: Item) => Promise<Result> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (result: Result) => void;
    readonly reject: (error: unknown) => void;
  }
  const queue: Waiting[] = [];
  let busy = false;
  let pausedUntilMs = 0;

  const drain = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    while (queue.length > 0) {
      const leftMs = pausedUntilMs - performance.now();
      if (leftMs > 0) await wait(leftMs);
      // One tick, so that all requests with sockets that are ready now share this batch (docs/decisions/0020-one-ledger-batch-and-prepared-statements.md).
      await nextTick();
      const startedAtMs = performance.now();
      const batch = queue.splice(0, nextSize());
      await runBatch(batch);
      const endedAtMs = performance.now();
      // A batch of one does not suggest that more calls follow.
      const pauseMs = batch.length === 1 ? 0 : pauseFactor * (endedAtMs - startedAtMs);
      pausedUntilMs = endedAtMs + Math.min(MAX_PAUSE_MS, pauseMs);
    }
    busy = false;
  };

  const nextSize = (): number => {
    let weight = 0;
    for (const [index, { item }] of queue.entries()) {
      weight += weightOf(item);
      if (index === maxItems || (index > 0 && weight > maxWeight)) return index;
    }
    return queue.length;
  };

  const runBatch = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const results = await run(batch.map((waiting) => waiting.item));
      if (results.length !== batch.length) throw new Error(`${results.length} results of a batch of ${batch.length}`);
      for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && isItemFault(error)) for (const waiting of batch) await runBatch([waiting]);
      else for (const waiting of batch) waiting.reject(error);
    }
  };

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      queue.push({ item, resolve, reject });
      void drain();
    });
}
