// The reply budget and parser for an `Io` in tests.
import { createJsonParser } from "../../src/lib/json/json-parser.ts";
import { createReplyMemory } from "../../src/outbound/reply-memory.ts";
import type { ReplyServices } from "../../src/providers/wire/reply-terms.ts";

export function testReplies(totalBytes = 256 * 1024 * 1024): ReplyServices {
  return { memory: createReplyMemory({ totalBytes }), parser: createJsonParser() };
}
