// Limits the size of an adapter's HTTP replies and counts their memory: a buffered reply until it is read or its work is done, of a stream what is kept.
import type { JsonParser } from "../../lib/json/json-parser.ts";
import type { ReplyHold } from "./reply-hold.ts";
import type { ReplyLease, ReplyMemory } from "../../outbound/reply-memory.ts";
import { ProviderError, type StreamingIo } from "../io.ts";
import { PLAIN_REPLY, type ReplyBound } from "./reply-bounds.ts";

/** Memory accounting and parsing of replies, shared by every `Io` of the process. */
export interface ReplyServices {
  readonly memory: ReplyMemory;
  readonly parser: JsonParser;
}

/** The replies that an `Io` expects. */
export interface ReplyTerms {
  /** Owner of the replies in the memory budget. */
  readonly owner: string;
  readonly bound: ReplyBound;
  /** Replies count until it is disposed. Absent: until they are read. */
  readonly hold?: ReplyHold;
}

interface Expecting {
  /** Absent: short replies, counted as the operator's own. */
  readonly expected?: ReplyTerms;
}

const OPERATORS_OWN: ReplyTerms = { owner: "", bound: PLAIN_REPLY };

export function termsOf({ expected = OPERATORS_OWN }: Expecting): ReplyTerms {
  return expected;
}

/** Disposed with the work that the reply belongs to, or else with the result. */
export function keepLease(lease: ReplyLease | null, options: Expecting): Disposable | null {
  const { hold } = termsOf(options);
  if (lease === null || hold === undefined) return lease;
  hold.replace(lease);
  return null;
}

/** Most streams keep so little of an answer that no memory is reserved for it. */
const FREE_CONTENT_BYTES = 64 * 1024;

export function createRetainer(options: Expecting & { readonly replies: ReplyServices }): StreamingIo["retain"] {
  const { bound, owner, hold } = termsOf(options);
  let lease: ReplyLease | null = null;
  let bytes = 0;
  return (more) => {
    bytes += more;
    if (bytes > bound.maxContentBytes) throw new ProviderError("bad_reply", { reason: "content_too_long" });
    if (bytes <= FREE_CONTENT_BYTES || hold === undefined) return undefined;
    if (lease === null) hold.add((lease = options.replies.memory.open(owner)));
    if (bytes <= lease.bytes) return undefined;
    // Reserved in steps, so that not every piece needs a reservation.
    const granted = lease.reserve(bytes + FREE_CONTENT_BYTES);
    return granted === true ? undefined : requireGranted(granted);
  };
}

async function requireGranted(granted: Promise<boolean>): Promise<void> {
  if (!(await granted)) throw new ProviderError("unknown", { reason: "no_memory" });
}
