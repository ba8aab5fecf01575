// What an `Io` expects as answers, and where they are counted: a reply read whole until it is read or its work is done, of a stream what
// is kept of it.
import type { JsonParser } from "../lib/json/json-parser.ts";
import type { ReplyHold } from "./reply-hold.ts";
import type { ReplyLease, ReplyMemory } from "../outbound/reply-memory.ts";
import { ProviderError, type StreamingIo } from "./io.ts";
import { PLAIN_REPLY, type ReplyBound } from "./reply-bounds.ts";

/** Where replies are counted and parsed: shared by every `Io` of the process. */
export interface ReplyServices {
  readonly memory: ReplyMemory;
  readonly parser: JsonParser;
}

/** What an `Io` expects as answers. */
export interface ReplyTerms {
  /** Whose they are in the budget of replies. */
  readonly owner: string;
  readonly bound: ReplyBound;
  /** Until it is disposed of, what came counts; absent: until it is read. */
  readonly hold?: ReplyHold;
}

interface Expecting {
  /** Absent: short replies, which count as the operator's own. */
  readonly expected?: ReplyTerms;
}

const OPERATORS_OWN: ReplyTerms = { owner: "", bound: PLAIN_REPLY };

export function termsOf({ expected = OPERATORS_OWN }: Expecting): ReplyTerms {
  return expected;
}

/** Disposed of with the work that the reply is for, or else with what is answered. */
export function keepLease(lease: ReplyLease | null, options: Expecting): Disposable | null {
  const { hold } = termsOf(options);
  if (lease === null || hold === undefined) return lease;
  hold.replace(lease);
  return null;
}

/** So little of an answer is kept by most streams that no room is asked for it. */
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
    // In steps, so that not each piece asks.
    const granted = lease.reserve(bytes + FREE_CONTENT_BYTES);
    return granted === true ? undefined : orNoMemory(granted);
  };
}

async function orNoMemory(granted: Promise<boolean>): Promise<void> {
  if (!(await granted)) throw new ProviderError("unknown", { reason: "no_memory" });
}
