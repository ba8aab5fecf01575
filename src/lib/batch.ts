// Gathers calls made while one is under way into the next one: each batch is one transaction, however many callers wait.
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";

export interface BatchOptions {
  readonly maxItems: number;
  /** How long to gather after a batch of several, as a multiple of what it took; the first call after a rest waits for nothing. */
  readonly restFactor?: number;
  /** One bad item fails its whole batch: for such an error each is run alone, so that the others do not pay for it. */
  readonly isOneItemsFault: (error: unknown) => boolean;
}

/** No caller waits longer than this for others to come. */
const LONGEST_REST_MS = 15;

/** Calls `run` with the items in the order they came, one batch at a time; answers must come back in the same order. */
export function createBatcher<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
  { maxItems, restFactor = 0, isOneItemsFault }: BatchOptions,
): (item: Item) => Promise<Answer> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: unknown) => void;
  }
  const queue: Waiting[] = [];
  let busy = false;
  let restedAtMs = 0;

  const drain = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    while (queue.length > 0) {
      const leftMs = restedAtMs - performance.now();
      if (leftMs > 0) await pause(leftMs);
      // One turn of the loop: everybody whose socket is ready now shares this batch (docs/measurements.md).
      await turn();
      const startedAtMs = performance.now();
      const batch = queue.splice(0, maxItems);
      await runBatch(batch);
      const endedAtMs = performance.now();
      // One that came alone says nothing of others to come.
      const restMs = batch.length === 1 ? 0 : restFactor * (endedAtMs - startedAtMs);
      restedAtMs = endedAtMs + Math.min(LONGEST_REST_MS, restMs);
    }
    busy = false;
  };

  const runBatch = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const answers = await run(batch.map((waiting) => waiting.item));
      if (answers.length !== batch.length) throw new Error(`${answers.length} answers to a batch of ${batch.length}`);
      for (const [index, waiting] of batch.entries()) waiting.resolve(answers[index] as Answer);
    } catch (error) {
      if (batch.length > 1 && isOneItemsFault(error)) for (const waiting of batch) await runBatch([waiting]);
      else for (const waiting of batch) waiting.reject(error);
    }
  };

  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      queue.push({ item, resolve, reject });
      void drain();
    });
}
