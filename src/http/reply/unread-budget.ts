// A memory budget for answers that are being made or that their callers have not read yet, over all connections of the process. Over it the
// slowest reader is disconnected, as often as it takes.
import type { Socket } from "node:net";
import { GatewayError } from "../../contract/errors.ts";

export interface UnreadBudget {
  /** Counts an answer until what is returned is called. What several answers share, one buffer, counts once. */
  add(socket: Socket, body: UnreadBody): () => void;
  /** Counts an answer that is being made. */
  reserve(socket: Socket): Reservation;
  readonly heldBytes: number;
}

export interface UnreadBody {
  /** Held as a whole until the last of it is taken. */
  readonly bytes: number;
  readonly shared?: object;
}

export interface Reservation {
  /** Throws OVERLOADED where the budget is full and no reader is left to disconnect; an answer alone may be larger than the budget. */
  grow(bytes: number): void;
  release(): void;
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
/** Readers of smaller answers are disconnected only when no larger answer is left. */
const LARGE_BYTES = 256 * 1024;
const INTERVAL_MS = 1_000;
const RETRY_AFTER_SECONDS = 2;

export interface UnreadBudgetOptions {
  readonly totalBytes?: number;
  readonly largeBytes?: number;
  readonly nowMs?: () => number;
}

export function createUnreadBudget(options: UnreadBudgetOptions = {}): UnreadBudget {
  const { totalBytes = TOTAL_BYTES, largeBytes = LARGE_BYTES, nowMs = () => performance.now() } = options;
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

  const look = (): void => {
    for (const answer of answers) {
      const takenBytes = takenOf(answer.socket);
      answer.rate = takenBytes - answer.takenBytes;
      answer.takenBytes = takenBytes;
    }
  };

  /** Undefined: no one but `socket` holds memory that a disconnection would free. */
  const slowestOtherThan = (socket: Socket): Answer | undefined => {
    const others = [...answers].filter(
      (each) => each.socket !== socket && (each.shared === undefined || sharers.get(each.shared) === 1),
    );
    const large = others.filter(({ bytes }) => bytes >= largeBytes);
    const candidates = large.length > 0 ? large : others;
    return candidates.length === 0 ? undefined : candidates.reduce((a, b) => (isSlower(b, a) ? b : a));
  };

  /** For an answer of `socket`. False: it is still full. */
  const makeRoom = (socket: Socket): boolean => {
    const isFull = (): boolean => heldBytes > totalBytes;
    while (isFull()) {
      const slowest = slowestOtherThan(socket);
      if (slowest === undefined) return false;
      for (const answer of answers) if (answer.socket === slowest.socket) remove(answer);
      slowest.socket.destroy();
    }
    return true;
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
      makeRoom(socket);
      return () => remove(answer);
    },
    reserve: (socket) => {
      let reservedBytes = 0;
      let isReleased = false;
      return {
        grow: (bytes) => {
          if (isReleased) return;
          heldBytes += bytes;
          reservedBytes += bytes;
          if (makeRoom(socket) || heldBytes === reservedBytes) return;
          heldBytes -= bytes;
          reservedBytes -= bytes;
          throw new GatewayError("OVERLOADED", {
            message: "The gateway holds as many large answers as it can at the moment.",
            retryAfterSeconds: RETRY_AFTER_SECONDS,
          });
        },
        release: () => {
          isReleased = true;
          heldBytes -= reservedBytes;
          reservedBytes = 0;
        },
      };
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
