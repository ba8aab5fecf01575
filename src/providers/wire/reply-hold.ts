// Holds one call's leases of the reply memory budget until its work is done: its last reply, because a poll replaces the previous one, and what it keeps of a
// stream.
import type { ReplyLease } from "../../outbound/reply-memory.ts";

export interface ReplyHold extends Disposable {
  /** Holds the lease of a buffered reply and releases the previous one. */
  replace(lease: ReplyLease): void;
  /** Adds the lease of a stream. */
  add(lease: ReplyLease): void;
}

export function createReplyHold(): ReplyHold {
  let last: ReplyLease | null = null;
  const streams: ReplyLease[] = [];
  let isOver = false;
  return {
    replace: (lease) => {
      last?.[Symbol.dispose]();
      last = lease;
      // The call is over.
      if (isOver) lease[Symbol.dispose]();
    },
    add: (lease) => {
      streams.push(lease);
      if (isOver) lease[Symbol.dispose]();
    },
    [Symbol.dispose]: () => {
      isOver = true;
      last?.[Symbol.dispose]();
      for (const lease of streams) lease[Symbol.dispose]();
    },
  };
}
