// Items on their way to a store, with nobody waiting for them: gathered, written in batches, kept until they are there.
export interface WriteBehind<Item> {
  /** Answers how many there are now that no batch holds. */
  push(item: Item): number;
  /** How many are not written yet. */
  size(): number;
  isWriting(): boolean;
  /** Of those that are not written yet. */
  holds(matches: (item: Item) => boolean): boolean;
  /** Everything pushed so far is durable when it resolves; what could not be written stays for the next. */
  flush(): Promise<void>;
  /** The next batch, if there is one, is durable when it resolves. Rejects where it could not be written. */
  written(): Promise<void>;
  /** Gives up the oldest of those that no batch holds. Answers how many. */
  dropOldest(most: number): number;
}

export interface WriteBehindOptions<Item> {
  readonly maxBatch: number;
  /** All or nothing. `mayBeThere`: an earlier try was cut off, and some or all of these may have been written by it. */
  readonly write: (items: readonly Item[], mayBeThere: boolean) => Promise<void>;
  /** Such a failure is of one item, which must not hold up the others: it is found by halves, told, and left out. */
  readonly isOneItemsFault: (error: unknown) => boolean;
  readonly onLeftOut: (item: Item, error: unknown) => void;
}

export function createWriteBehind<Item>(options: WriteBehindOptions<Item>): WriteBehind<Item> {
  const { maxBatch, write, isOneItemsFault, onLeftOut } = options;
  const fresh: Item[] = [];
  /** Being written, or to be written again by itself: only of it some may be there. */
  let batch: readonly Item[] = [];
  let mayBeThere = false;
  let writing: Promise<void> | null = null;
  let next = nextBatch();

  /** What had come when it began. What comes meanwhile waits for company. */
  const turn = async (): Promise<void> => {
    for (let left = fresh.length; ; ) {
      if (batch.length === 0) {
        batch = fresh.splice(0, Math.min(left, maxBatch));
        left -= batch.length;
      }
      if (batch.length === 0) return;
      await writeAll(batch);
      batch = [];
      mayBeThere = false;
      next.resolve();
      next = nextBatch();
    }
  };

  const writeAll = async (items: readonly Item[]): Promise<void> => {
    try {
      await write(items, mayBeThere);
    } catch (error) {
      if (!isOneItemsFault(error)) {
        mayBeThere = true;
        throw error;
      }
      const [item, ...others] = items;
      if (item === undefined) return;
      if (others.length === 0) return onLeftOut(item, error);
      const half = Math.ceil(items.length / 2);
      await writeAll(items.slice(0, half));
      await writeAll(items.slice(half));
    }
  };

  const flush = async (): Promise<void> => {
    // A turn under way began before the last push.
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
    holds: (matches) => batch.some(matches) || fresh.some(matches),
    flush,
    written: async () => {
      if (batch.length + fresh.length === 0) return;
      const { promise } = next;
      if (writing === null) flush().catch(() => undefined);
      await promise;
    },
    dropOldest: (most) => fresh.splice(0, most).length,
  };
}

function nextBatch(): PromiseWithResolvers<void> {
  const made = Promise.withResolvers<void>();
  // Nobody may wait for it.
  made.promise.catch(() => undefined);
  return made;
}
