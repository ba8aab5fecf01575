// Converts the messages of a conversation to Anthropic's content blocks.
import type { CacheMarks } from "./anthropic-cache-marks.ts";
import type { CacheControl, ChatMessage, ChatPart } from "../chat/chat-provider.ts";
import { isBlank } from "../chat/chat-turns.ts";
import { argumentsObject, fittingId } from "../chat/chat-values.ts";

const CALL_IDS = { pattern: /^[A-Za-z0-9_-]{1,64}$/u, length: 32 };

/** `times` counts how often each id was used by a call so far. */
export function blocksOf(
  message: Exclude<ChatMessage, { readonly role: "system" }>,
  times: Map<string, number>,
  marks: CacheMarks | null,
): readonly object[] {
  switch (message.role) {
    case "user":
      return message.parts.flatMap((part) => partBlocks(part, marks));
    case "assistant": {
      const { toolCalls, cache } = message;
      return [
        ...textBlocks(message.text ?? "", marks, toolCalls.length === 0 ? cache : undefined),
        ...toolCalls.map((call, index) => {
          times.set(call.id, (times.get(call.id) ?? 0) + 1);
          return {
            type: "tool_use",
            id: wireId(call.id, times),
            name: call.name,
            input: argumentsObject(call.arguments),
            ...marks?.(index === toolCalls.length - 1 ? cache : undefined),
          };
        }),
      ];
    }
    case "tool":
      return [
        {
          type: "tool_result",
          tool_use_id: wireId(message.toolCallId, times),
          ...(isBlank(message.text) ? {} : { content: message.text }),
          ...marks?.(message.cache),
        },
      ];
  }
}

/** "`tool_use` ids must be unique", and servers that number their calls restart in each answer. A result belongs to the last call with its id. */
function wireId(id: string, times: ReadonlyMap<string, number>): string {
  const time = times.get(id) ?? 1;
  return fittingId(time === 1 ? id : `${id} (${time})`, CALL_IDS);
}

function partBlocks(part: ChatPart, marks: CacheMarks | null): readonly object[] {
  switch (part.kind) {
    case "text":
      return textBlocks(part.text, marks, part.cache);
    case "image":
      return [{ type: "image", source: { type: "base64", media_type: part.mediaType, data: part.base64 } }];
    case "audio":
      throw new TypeError("planned without audio");
  }
}

/** "final assistant content cannot end with trailing whitespace". */
export function trimmedEnd(blocks: readonly object[]): readonly object[] {
  const last = blocks.at(-1);
  if (last === undefined || !("text" in last) || typeof last.text !== "string") return blocks;
  return [...blocks.slice(0, -1), { ...last, text: last.text.trimEnd() }];
}

/** "text content blocks must contain non-whitespace text". */
export function textBlocks(text: string, marks: CacheMarks | null, cache: CacheControl | undefined): readonly object[] {
  return isBlank(text) ? [] : [{ type: "text", text, ...marks?.(cache) }];
}
