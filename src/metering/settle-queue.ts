// Queues settlements in memory, collects them briefly and writes them in batches. They stay in the queue until they are durable.
import { createWriteBehind, type WriteBehind } from "../lib/concurrency/write-behind.ts";
import type { Database } from "../storage/database.ts";
import { isBadData } from "../storage/database-faults.ts";
import { settleLeased } from "./settle-leased.ts";
import type { LeasedAttempt } from "./store/leased-attempts.ts";

export interface SettleQueue extends Pick<WriteBehind<LeasedAttempt>, "size" | "has" | "flush" | "nextWrite"> {
  push(item: LeasedAttempt): void;
}

/** A batch costs about the same for 1 or 100 settlements, so the first one waits briefly for others. */
const LINGER_MS = 50;
const MAX_BATCH = 500;
const RETRY_MS = 1_000;

/** A batch that could not be written stays queued, is reported to `onError` and is retried. */
export function createSettleQueue(
  database: Database,
  nowMs: () => number,
  onError: (error: unknown) => void,
): SettleQueue {
  let timer: NodeJS.Timeout | null = null;
  const queue = createWriteBehind<LeasedAttempt>({
    maxBatch: MAX_BATCH,
    write: (items, mayBeThere) => settleLeased(database, items, { nowMs: nowMs(), mayBeThere }),
    isItemFault: isBadData,
    onSkipped: (_, error) => onError(error),
  });

  const flushLater = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = null;
      // The write in progress takes care of what arrived meanwhile.
      if (!queue.isWriting()) flush().catch(onError);
    }, ms).unref();
  };

  /** Settlements that arrived meanwhile wait briefly for others too. */
  const flush = async (): Promise<void> => {
    try {
      await queue.flush();
    } catch (error) {
      flushLater(RETRY_MS);
      throw error;
    } finally {
      if (queue.size() > 0) flushLater(LINGER_MS);
    }
  };

  return {
    push: (item) => {
      queue.push(item);
      flushLater(LINGER_MS);
    },
    size: () => queue.size(),
    has: (matches) => queue.has(matches),
    flush,
    nextWrite: () => queue.nextWrite(),
  };
}
