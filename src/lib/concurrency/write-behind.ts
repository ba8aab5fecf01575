// A write-behind queue: items are stored in batches in the background and kept until they are stored.
export interface WriteBehind<Item> {
  /** Returns the number of items that are not in a batch yet. */
  push(item: Item): number;
  /** The number of items that are not stored yet. */
  size(): number;
  isWriting(): boolean;
  /** Whether an item that is not stored yet matches. */
  has(matches: (item: Item) => boolean): boolean;
  /** Resolves when everything pushed so far is stored. Rejects on failure; the items stay queued. */
  flush(): Promise<void>;
  /** Resolves when the next batch, if there is one, is stored. Rejects if it could not be stored. */
  nextWrite(): Promise<void>;
  /** Drops the oldest items that are not in a batch, at most `count`. Returns how many. */
  dropOldest(count: number): number;
}

export interface WriteBehindOptions<Item> {
  readonly maxBatch: number;
  /** All or nothing. `isRetry`: an earlier try was interrupted, and may have stored some or all of them. */
  readonly write: (items: readonly Item[], isRetry: boolean) => Promise<void>;
  /** Whether one bad item caused the failure: it is found by bisection, reported and skipped. */
  readonly isItemFault: (error: unknown) => boolean;
  readonly onSkipped: (item: Item, error: unknown) => void;
}

export function createWriteBehind<Item>(options: WriteBehindOptions<Item>): WriteBehind<Item> {
  const { maxBatch, write, isItemFault, onSkipped } = options;
  const fresh: Item[] = [];
  /** Being stored, or to be retried as it is, because some of it may be stored already. */
  let batch: readonly Item[] = [];
  let isRetry = false;
  let writing: Promise<void> | null = null;
  let next = nextBatch();

  /** Stores what was queued at the start. Items that come meanwhile wait for the next run. */
  const turn = async (): Promise<void> => {
    for (let left = fresh.length; ; ) {
      if (batch.length === 0) {
        batch = fresh.splice(0, Math.min(left, maxBatch));
        left -= batch.length;
      }
      if (batch.length === 0) return;
      await writeAll(batch);
      batch = [];
      isRetry = false;
      next.resolve();
      next = nextBatch();
    }
  };

  const writeAll = async (items: readonly Item[]): Promise<void> => {
    try {
      await write(items, isRetry);
    } catch (error) {
      if (!isItemFault(error)) {
        isRetry = true;
        throw error;
      }
      const [item, ...others] = items;
      if (item === undefined) return;
      if (others.length === 0) return onSkipped(item, error);
      const half = Math.ceil(items.length / 2);
      await writeAll(items.slice(0, half));
      await writeAll(items.slice(half));
    }
  };

  const flush = async (): Promise<void> => {
    // A run in progress began before the last push.
    if (writing !== null) await writing.catch(() => undefined);
    writing ??= turn()
      .catch((error: unknown) => {
        next.reject(error);
        next = nextBatch();
        throw error;
      })
      .finally(() => {
        writing = null;
      });
    await writing;
  };

  return {
    push: (item) => fresh.push(item),
    size: () => batch.length + fresh.length,
    isWriting: () => writing !== null,
    has: (matches) => batch.some(matches) || fresh.some(matches),
    flush,
    nextWrite: async () => {
      if (batch.length + fresh.length === 0) return;
      const { promise } = next;
      if (writing === null) flush().catch(() => undefined);
      await promise;
    },
    dropOldest: (count) => fresh.splice(0, count).length,
  };
}

function nextBatch(): PromiseWithResolvers<void> {
  const next = Promise.withResolvers<void>();
  // Without a waiter a rejection would end the process.
  next.promise.catch(() => undefined);
  return next;
}
