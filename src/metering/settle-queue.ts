// Queues settlements in memory, collects them briefly and writes them in batches. They stay in the queue until they are durable.
import { createWriteBehind, type WriteBehind } from "../lib/concurrency/write-behind.ts";
import { isBadData } from "../storage/database-faults.ts";
import type { LeasedAttempt } from "./store/leased-attempts.ts";

export interface SettleQueue extends Pick<WriteBehind<LeasedAttempt>, "size" | "has" | "flush" | "nextWrite"> {
  push(item: LeasedAttempt): void;
}

/** `mayBeThere`: the batch is a retry after a commit with a lost result. */
export type WriteSettlements = (batch: readonly LeasedAttempt[], mayBeThere: boolean) => Promise<void>;

/** A batch costs about the same for 1 or 100 settlements, so the first one waits briefly for others. */
const LINGER_MS = 50;
/**
 * Fewer than these wait up to four times as long. With one connection a chat then meets a batch a third as often (docs/decisions/0062-what-a-chat-waits-for.md),
 * and a crash loses the record of no more chats than under load.
 */
const SMALL_BATCH = 32;
const SMALL_BATCH_LINGER_MS = 200;
const MAX_BATCH = 500;
const RETRY_MS = 1_000;

/** A batch that could not be written stays queued, is reported to `onError` and is retried. */
export function createSettleQueue(write: WriteSettlements, onError: (error: unknown) => void): SettleQueue {
  let timer: NodeJS.Timeout | null = null;
  const queue = createWriteBehind<LeasedAttempt>({
    maxBatch: MAX_BATCH,
    write,
    isItemFault: isBadData,
    onSkipped: (_, error) => onError(error),
  });

  const wakeAfter = (ms: number, wake: () => void): void => {
    timer ??= setTimeout(() => {
      timer = null;
      // The write in progress takes care of what arrived meanwhile.
      if (!queue.isWriting()) wake();
    }, ms).unref();
  };
  const flushLogged = (): void => void flush().catch(onError);
  const linger = (waitedMs = LINGER_MS): void =>
    wakeAfter(LINGER_MS, () => {
      if (queue.size() >= SMALL_BATCH || waitedMs >= SMALL_BATCH_LINGER_MS) flushLogged();
      else if (queue.size() > 0) linger(waitedMs + LINGER_MS);
    });

  /** Settlements that arrived meanwhile wait briefly for others too. */
  const flush = async (): Promise<void> => {
    try {
      await queue.flush();
    } catch (error) {
      wakeAfter(RETRY_MS, flushLogged);
      throw error;
    } finally {
      if (queue.size() > 0) linger();
    }
  };

  return {
    push: (item) => {
      queue.push(item);
      linger();
    },
    size: () => queue.size(),
    has: (matches) => queue.has(matches),
    flush,
    nextWrite: () => queue.nextWrite(),
  };
}
