// A memory budget, in bytes, for the replies of other servers over all requests of the process: counted before they are read. A reply
// that finds no room waits for it, and its socket is not read meanwhile. Owners who wait have their turn, and one owner alone never
// takes the last quarter.
import { createRoundRobin, type Waiting } from "../lib/concurrency/round-robin.ts";

export interface ReplyMemory {
  /** For one reply. */
  open(owner: string): ReplyLease;
  readonly heldBytes: number;
}

export interface ReplyLease extends Disposable {
  readonly bytes: number;
  /** True: it holds so many in all. Else a promise: false where no room came in time. */
  reserve(bytes: number): true | Promise<boolean>;
  shrinkTo(bytes: number): void;
  /** What is so small that it is never made to wait, and is counted all the same. */
  force(bytes: number): void;
}

/** Whoever holds more than this part of the budget leaves as much to others: alone it may fill three quarters. */
const FAIR_SHARE = 1 / 4;
const WAIT_MS = 30_000;

export interface ReplyMemoryOptions {
  readonly totalBytes: number;
  readonly waitMs?: number;
}

interface Claim extends Waiting {
  readonly bytes: number;
  readonly settle: (isGranted: boolean) => void;
}

export function createReplyMemory({ totalBytes, waitMs = WAIT_MS }: ReplyMemoryOptions): ReplyMemory {
  const shareBytes = totalBytes * FAIR_SHARE;
  /** More than this is never granted to one owner, so a single reply counts as no more. */
  const mostBytes = totalBytes - shareBytes;
  const heldBy = new Map<string, number>();
  const claims: Claim[] = [];
  const turns = createRoundRobin();
  let heldBytes = 0;

  const heldByOwner = (owner: string): number => heldBy.get(owner) ?? 0;
  const isWithinShare = ({ owner, bytes }: Omit<Claim, "settle">): boolean => heldByOwner(owner) + bytes <= mostBytes;
  const fits = ({ owner, bytes }: Omit<Claim, "settle">): boolean =>
    heldBytes + bytes <= (heldByOwner(owner) + bytes > shareBytes ? mostBytes : totalBytes);

  const add = (owner: string, bytes: number): void => {
    heldBytes += bytes;
    const held = heldByOwner(owner) + bytes;
    if (held === 0) heldBy.delete(owner);
    else heldBy.set(owner, held);
  };

  const grantWaiting = (): void => {
    for (;;) {
      // An owner that waits for itself alone holds up nobody; of the others none is passed by smaller claims.
      const next = turns.peek(claims.filter(isWithinShare));
      if (next === undefined || !fits(next)) return;
      turns.markServed(next.owner);
      claims.splice(claims.indexOf(next), 1);
      add(next.owner, next.bytes);
      next.settle(true);
    }
  };

  const claim = (owner: string, bytes: number): true | Promise<boolean> => {
    const asked = { owner, bytes };
    if (!claims.some(isWithinShare) && isWithinShare(asked) && fits(asked)) {
      turns.markServed(owner);
      add(owner, bytes);
      return true;
    }
    return new Promise((resolve) => {
      const waiting: Claim = {
        ...asked,
        settle: (isGranted) => {
          clearTimeout(timer);
          resolve(isGranted);
        },
      };
      const timer = setTimeout(() => {
        claims.splice(claims.indexOf(waiting), 1);
        waiting.settle(false);
        grantWaiting();
      }, waitMs);
      claims.push(waiting);
    });
  };

  return {
    get heldBytes() {
      return heldBytes;
    },
    open: (owner) => {
      let bytes = 0;
      let isOver = false;
      const release = (count: number): void => {
        bytes -= count;
        add(owner, -count);
        grantWaiting();
      };
      const take = async (granted: Promise<boolean>, more: number): Promise<boolean> => {
        if (!(await granted)) return false;
        bytes += more;
        // Given up while it waited.
        if (isOver) release(bytes);
        return true;
      };
      return {
        get bytes() {
          return bytes;
        },
        reserve: (wanted) => {
          const more = Math.min(Math.ceil(wanted), mostBytes) - bytes;
          if (isOver || more <= 0) return true;
          const granted = claim(owner, more);
          if (granted === true) bytes += more;
          return granted === true ? true : take(granted, more);
        },
        shrinkTo: (wanted) => {
          const target = Math.max(0, Math.ceil(wanted));
          if (target < bytes) release(bytes - target);
        },
        force: (count) => {
          if (isOver) return;
          bytes += count;
          add(owner, count);
        },
        [Symbol.dispose]: () => {
          isOver = true;
          if (bytes > 0) release(bytes);
        },
      };
    },
  };
}
