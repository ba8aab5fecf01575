// A memory budget for responses that are being created or not yet read, across all connections of the process. If it is exceeded, the slowest readers
// are disconnected.
import type { Socket } from "node:net";
import { GatewayError } from "../../contract/errors.ts";

export interface UnreadBudget {
  /** Counts a response until the returned function is called. A buffer that several responses share counts once. */
  add(socket: Socket, body: UnreadBody): () => void;
  /** Reserves memory for a response that is being created. */
  reserve(socket: Socket): Reservation;
  readonly heldBytes: number;
}

export interface UnreadBody {
  /** Counted in full until the last byte is sent. */
  readonly bytes: number;
  readonly shared?: object;
}

export interface Reservation {
  /** Throws OVERLOADED if the budget is full and no reader is left to disconnect. A single response may exceed the budget. */
  grow(bytes: number): void;
  release(): void;
}

interface Answer extends UnreadBody {
  readonly socket: Socket;
  readonly sinceMs: number;
  /** Bytes of the connection that had been sent at the last check. */
  takenBytes: number;
  /** Bytes sent in the last complete interval. Null: no interval is complete yet. */
  rate: number | null;
}

/** Enough for eight of the largest usual responses (four hours with word times) or hundreds of ordinary ones. */
const TOTAL_BYTES = 128 * 1024 * 1024;
/** Readers of smaller responses are disconnected only if there is no larger response. */
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
      const previousCount = sharers.get(shared) ?? 0;
      const nextCount = previousCount + by;
      if (nextCount === 0) sharers.delete(shared);
      else sharers.set(shared, nextCount);
      // A shared buffer is added with its first user and removed with its last.
      if (Math.min(previousCount, nextCount) > 0) return;
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

  const updateRates = (): void => {
    for (const answer of answers) {
      const takenBytes = sentBytesOf(answer.socket);
      answer.rate = takenBytes - answer.takenBytes;
      answer.takenBytes = takenBytes;
    }
  };

  /** Undefined: disconnecting any client but `socket` would free no memory. */
  const slowestReaderExcept = (socket: Socket): Answer | undefined => {
    const freeable = [...answers].filter(
      (each) => each.socket !== socket && (each.shared === undefined || sharers.get(each.shared) === 1),
    );
    const large = freeable.filter(({ bytes }) => bytes >= largeBytes);
    const candidates = large.length > 0 ? large : freeable;
    return candidates.length === 0 ? undefined : candidates.reduce((a, b) => (isSlower(b, a) ? b : a));
  };

  /** Frees memory for a response on `socket`. False: the budget is still full. */
  const makeRoom = (socket: Socket): boolean => {
    const isFull = (): boolean => heldBytes > totalBytes;
    while (isFull()) {
      const slowest = slowestReaderExcept(socket);
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
      const answer: Answer = { ...body, socket, sinceMs: nowMs(), takenBytes: sentBytesOf(socket), rate: null };
      answers.add(answer);
      count(answer, 1);
      if (timer === undefined) {
        timer = setInterval(updateRates, INTERVAL_MS);
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
            message: "The gateway cannot buffer more large answers at the moment.",
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

/** Responses that were not checked yet count as fastest. With equal rates, the oldest is the slowest. */
function isSlower(one: Answer, other: Answer): boolean {
  const [rate, otherRate] = [one.rate ?? Number.POSITIVE_INFINITY, other.rate ?? Number.POSITIVE_INFINITY];
  return rate === otherRate ? one.sinceMs < other.sinceMs : rate < otherRate;
}

/** Bytes that have left this process. */
function sentBytesOf(socket: Socket): number {
  return socket.bytesWritten - waitingBytes(socket);
}

/** For one large write, the stream counts all bytes until the last one is sent. The handle's size, which Node's own timeouts use, is exact. */
export function waitingBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}
