// A memory budget for answers that their callers have not read yet, over all connections of the process. Over it the slowest reader is
// disconnected, as often as it takes.
import type { Socket } from "node:net";

export interface UnreadBudget {
  /** Counts an answer until what is returned is called. What several answers share, one buffer, counts once. */
  add(socket: Socket, body: UnreadBody): () => void;
  readonly heldBytes: number;
}

export interface UnreadBody {
  /** Held as a whole until the last of it is taken. */
  readonly bytes: number;
  readonly shared?: object;
}

interface Answer extends UnreadBody {
  readonly socket: Socket;
  readonly sinceMs: number;
  /** Bytes of its connection that were taken when it was looked at last. */
  takenBytes: number;
  /** In the last whole interval; null: there was none yet. */
  rate: number | null;
}

/** Eight of the largest usual answers, of four hours with word times, and hundreds of ordinary ones. */
const TOTAL_BYTES = 128 * 1024 * 1024;
const INTERVAL_MS = 1_000;

export interface UnreadBudgetOptions {
  readonly totalBytes?: number;
  readonly nowMs?: () => number;
}

export function createUnreadBudget(options: UnreadBudgetOptions = {}): UnreadBudget {
  const { totalBytes = TOTAL_BYTES, nowMs = () => performance.now() } = options;
  const answers = new Set<Answer>();
  const sharers = new Map<object, number>();
  let heldBytes = 0;
  let timer: NodeJS.Timeout | undefined;

  const count = ({ bytes, shared }: UnreadBody, by: 1 | -1): void => {
    if (shared !== undefined) {
      const before = sharers.get(shared) ?? 0;
      const after = before + by;
      if (after === 0) sharers.delete(shared);
      else sharers.set(shared, after);
      // Only the first brings it, and only the last takes it away.
      if (Math.min(before, after) > 0) return;
    }
    heldBytes += by * bytes;
  };

  const remove = (answer: Answer): void => {
    if (!answers.delete(answer)) return;
    count(answer, -1);
    if (answers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const isFull = (): boolean => heldBytes > totalBytes;

  const look = (): void => {
    for (const answer of answers) {
      const takenBytes = takenOf(answer.socket);
      answer.rate = takenBytes - answer.takenBytes;
      answer.takenBytes = takenBytes;
    }
  };

  return {
    get heldBytes() {
      return heldBytes;
    },
    add: (socket, body) => {
      const answer: Answer = { ...body, socket, sinceMs: nowMs(), takenBytes: takenOf(socket), rate: null };
      answers.add(answer);
      count(answer, 1);
      if (timer === undefined) {
        timer = setInterval(look, INTERVAL_MS);
        timer.unref();
      }
      while (isFull() && answers.size > 1) {
        const slowest = [...answers].reduce((a, b) => (isSlower(b, a) ? b : a));
        remove(slowest);
        slowest.socket.destroy();
      }
      return () => remove(answer);
    },
  };
}

/** Those that were not looked at yet come last, and of those alike the oldest first. */
function isSlower(one: Answer, other: Answer): boolean {
  const [rate, otherRate] = [one.rate ?? Number.POSITIVE_INFINITY, other.rate ?? Number.POSITIVE_INFINITY];
  return rate === otherRate ? one.sinceMs < other.sinceMs : rate < otherRate;
}

/** Bytes that have left this process. */
function takenOf(socket: Socket): number {
  return socket.bytesWritten - waitingBytes(socket);
}

/** Of one large write the stream itself counts all until the last byte is gone; what Node's own timeouts look at is exact. */
export function waitingBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}
