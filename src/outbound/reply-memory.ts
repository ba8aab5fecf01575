// A process-wide memory budget in bytes for replies of other servers, reserved before they are read. A reply without room waits and its socket is not read
// meanwhile. Waiting owners are served round-robin, and no single owner gets the last quarter.
import { createRoundRobin, type Waiter } from "../lib/concurrency/round-robin.ts";

export interface ReplyMemory {
  /** Opens a lease for one reply. */
  open(owner: string): ReplyLease;
  readonly heldBytes: number;
}

export interface ReplyLease extends Disposable {
  readonly bytes: number;
  /** Grows the lease to this many bytes in total. True if there was room at once, otherwise a promise: false if none was released in time. */
  reserve(bytes: number): true | Promise<boolean>;
  shrinkTo(bytes: number): void;
  /** For a reply too small to wait, which is counted all the same. */
  force(bytes: number): void;
}

/** An owner with more than this part of the budget must leave this much free for others, so that one owner alone can fill three quarters. */
const FAIR_SHARE = 1 / 4;
const WAIT_MS = 30_000;

export interface ReplyMemoryOptions {
  readonly totalBytes: number;
  readonly waitMs?: number;
}

interface Claim extends Waiter {
  readonly bytes: number;
  readonly settle: (isGranted: boolean) => void;
}

export function createReplyMemory({ totalBytes, waitMs = WAIT_MS }: ReplyMemoryOptions): ReplyMemory {
  const shareBytes = totalBytes * FAIR_SHARE;
  /** One owner is never granted more, so a single reply counts for at most this. */
  const maxOwnerBytes = totalBytes - shareBytes;
  const heldBy = new Map<string, number>();
  const claims: Claim[] = [];
  const turns = createRoundRobin();
  let heldBytes = 0;

  const heldByOwner = (owner: string): number => heldBy.get(owner) ?? 0;
  const isWithinShare = ({ owner, bytes }: Omit<Claim, "settle">): boolean =>
    heldByOwner(owner) + bytes <= maxOwnerBytes;
  const fits = ({ owner, bytes }: Omit<Claim, "settle">): boolean =>
    heldBytes + bytes <= (heldByOwner(owner) + bytes > shareBytes ? maxOwnerBytes : totalBytes);

  const add = (owner: string, bytes: number): void => {
    heldBytes += bytes;
    const ownerBytes = heldByOwner(owner) + bytes;
    if (ownerBytes === 0) heldBy.delete(owner);
    else heldBy.set(owner, ownerBytes);
  };

  const grantWaiting = (): void => {
    for (;;) {
      // An owner that waits only for its own leases blocks no other owner. Among the rest, smaller claims do not overtake.
      const next = turns.peek(claims.filter(isWithinShare));
      if (next === undefined || !fits(next)) return;
      turns.markServed(next.owner);
      claims.splice(claims.indexOf(next), 1);
      add(next.owner, next.bytes);
      next.settle(true);
    }
  };

  const claim = (owner: string, bytes: number): true | Promise<boolean> => {
    const newClaim = { owner, bytes };
    if (!claims.some(isWithinShare) && isWithinShare(newClaim) && fits(newClaim)) {
      turns.markServed(owner);
      add(owner, bytes);
      return true;
    }
    return new Promise((resolve) => {
      const waiting: Claim = {
        ...newClaim,
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
        // The lease was released while it waited.
        if (isOver) release(bytes);
        return true;
      };
      return {
        get bytes() {
          return bytes;
        },
        reserve: (wanted) => {
          const more = Math.min(Math.ceil(wanted), maxOwnerBytes) - bytes;
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
