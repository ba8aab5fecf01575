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
      write().catch(onError);
    }, ms).unref();
  };

  /** One batch at a time, until nothing is left or one fails. */
  const write = (): Promise<void> => {
    writing ??= writeAll().finally(() => {
      writing = null;
    });
    return writing;
  };

  const writeAll = async (): Promise<void> => {
    try {
      for (;;) {
        if (waiting.length === 0) {
          [waiting, fresh] = [fresh, []];
          mayBeThere = false;
        }
        if (waiting.length === 0) return;
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
    } catch (error) {
      mayBeThere = true;
      later(RETRY_MS);
      throw error;
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
