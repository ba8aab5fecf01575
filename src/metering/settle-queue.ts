// What was settled in memory, on its way to the database: gathered for a moment, written in batches, kept until it is there.
import { createWriteBehind, type WriteBehind } from "../lib/concurrency/write-behind.ts";
import type { Database } from "../storage/database.ts";
import { isBadData } from "../storage/database-faults.ts";
import { type LeasedAttempt, settleLeased } from "./settle-leased.ts";

export interface SettleQueue extends Pick<WriteBehind<LeasedAttempt>, "size" | "has" | "flush" | "nextWrite"> {
  push(item: LeasedAttempt): void;
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
  let timer: NodeJS.Timeout | null = null;
  const queue = createWriteBehind<LeasedAttempt>({
    maxBatch: MAX_BATCH,
    write: (items, mayBeThere) => settleLeased(database, items, { nowMs: nowMs(), mayBeThere }),
    isItemFault: isBadData,
    onSkipped: (_, error) => onError(error),
  });

  const later = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = null;
      // The turn under way sees to what came meanwhile.
      if (!queue.isWriting()) flush().catch(onError);
    }, ms).unref();
  };

  /** What came meanwhile waits a moment for company too. */
  const flush = async (): Promise<void> => {
    try {
      await queue.flush();
    } catch (error) {
      later(RETRY_MS);
      throw error;
    } finally {
      if (queue.size() > 0) later(LINGER_MS);
    }
  };

  return {
    push: (item) => {
      queue.push(item);
      later(LINGER_MS);
    },
    size: () => queue.size(),
    has: (matches) => queue.has(matches),
    flush,
    nextWrite: () => queue.nextWrite(),
  };
}
