// What was settled in memory, on its way to the database: gathered for a moment, written in batches, kept until it is there.
import type { Database } from "../storage/database.ts";
import { isBadData } from "../storage/transact.ts";
import { type LeasedAttempt, settleLeased } from "./settle-leased.ts";

export interface SettleQueue {
  push(item: LeasedAttempt): void;
  /** How many are not written yet. */
  size(): number;
  /** Everything pushed so far is durable when it resolves. */
  flush(): Promise<void>;
}

/** A batch costs about the same whether it holds 1 or 100, so the first waits a moment for company. */
const LINGER_MS = 50;
const MAX_BATCH = 500;
const RETRY_MS = 1_000;

/** A batch that could not be written stays, is told to `onError`, and is tried again. */
export function createSettleQueue(
  database: Database,
  nowMs: () => number,
  onError: (error: unknown) => void,
): SettleQueue {
  let waiting: readonly LeasedAttempt[] = [];
  let fresh: LeasedAttempt[] = [];
  let writing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let batchSize = MAX_BATCH;
  /** Some of `waiting` may have been committed: the database left in the middle. */
  let mayBeThere = false;

  const later = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = null;
      // The turn under way sees to what came meanwhile.
      if (writing === null) write().catch(onError);
    }, ms).unref();
  };

  /** One turn at a time: what had come when it began. What comes meanwhile waits a moment for company too. */
  const write = (): Promise<void> => {
    writing ??= writeTurn().finally(() => {
      writing = null;
      if (fresh.length > 0) later(LINGER_MS);
    });
    return writing;
  };

  const writeTurn = async (): Promise<void> => {
    try {
      // What an earlier turn could not write goes by itself: only of it some may be there.
      await writeWaiting();
      [waiting, fresh] = [fresh, []];
      mayBeThere = false;
      await writeWaiting();
    } catch (error) {
      mayBeThere = true;
      later(RETRY_MS);
      throw error;
    }
  };

  const writeWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize);
      try {
        await settleLeased(database, batch, { nowMs: nowMs(), mayBeThere });
      } catch (error) {
        if (!isBadData(error)) throw error;
        // One bad item must not hold up the others: it is found by halves, told, and left out.
        if (batch.length > 1) {
          batchSize = Math.ceil(batch.length / 2);
          continue;
        }
        onError(error);
      }
      waiting = waiting.slice(batch.length);
      batchSize = MAX_BATCH;
    }
  };

  return {
    push: (item) => {
      fresh.push(item);
      later(LINGER_MS);
    },
    size: () => waiting.length + fresh.length,
    flush: async () => {
      // A turn under way may have begun before the last push.
      if (writing !== null) await writing.catch(() => undefined);
      await write();
    },
  };
}
