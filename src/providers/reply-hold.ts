// What one call holds of the budget of replies until its work is done: its last reply, for a poll replaces the one before, and what it
// keeps of a stream.
import type { ReplyLease } from "../outbound/reply-memory.ts";

export interface ReplyHold extends Disposable {
  /** Of a reply read whole. */
  replace(lease: ReplyLease): void;
  /** Of a stream. */
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
      // Its reader is gone.
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
