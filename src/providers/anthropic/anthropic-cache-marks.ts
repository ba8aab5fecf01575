// Cache breakpoints of a request to Anthropic: "a maximum of 4 blocks with cache_control may be provided".
import type { CacheControl, ChatRequest } from "../chat/chat-provider.ts";

const MOST_MARKS = 4;

/** Called for each block in wire order: tools, instructions, messages. */
export type CacheMarks = (cache: CacheControl | undefined) => { readonly cache_control?: CacheControl };

/** Null: the request has none. The last four are kept, because each covers everything before it. */
export function createCacheMarks(request: ChatRequest): CacheMarks | null {
  if (request.history?.includes("cache_control") !== true) return null;
  let surplus = countOf(request) - MOST_MARKS;
  return (cache) => {
    if (cache === undefined) return {};
    surplus -= 1;
    return surplus < 0 ? { cache_control: cache } : {};
  };
}

function countOf({ tools, messages }: ChatRequest): number {
  const cacheables = messages.flatMap((message): readonly { readonly cache?: CacheControl }[] => {
    if (message.role === "system") return message.parts ?? [];
    return message.role === "user" ? message.parts.filter((part) => part.kind === "text") : [message];
  });
  return [...tools, ...cacheables].filter(({ cache }) => cache !== undefined).length;
}
