// Assembles a streamed answer: returns each event as a part for the caller, and the whole answer at the end [chat.stream-deltas].
import type { ToolCall } from "../../contract/chat/chat-parts.ts";
import type { ChatEvent, Reasoning } from "../../providers/chat/chat-provider.ts";
import type { ChatContent } from "./chat-content.ts";
import type { ChatStreamPart } from "./chat-call.ts";
import { estimateOutputTokens } from "./estimate-tokens.ts";

export interface ChatAnswerParts {
  /** Null: nothing is sent to the caller. */
  add(event: ChatEvent): ChatStreamPart | null;
  /** Null before the finish. */
  content(): ChatContent | null;
  /** Everything that was received of it. */
  texts(): readonly string[];
  /** Our own estimate of the tokens received so far. */
  tokens(): number;
}

export function createAnswerParts(): ChatAnswerParts {
  let text = "";
  let reasoning: Reasoning | null = null;
  const toolCalls: { id: string; name: string; arguments: string }[] = [];
  let finish: Pick<ChatContent, "finishReason" | "isFinishUnknown"> | null = null;
  return {
    add: (event) => {
      switch (event.type) {
        case "text":
          text += event.text;
          return { kind: "text", text: event.text, isRefusal: event.isRefusal === true };
        case "tool_call": {
          const { type: _, ...delta } = event;
          const call = (toolCalls[event.index] ??= { id: "", name: "", arguments: "" });
          if (event.id !== undefined) call.id = event.id;
          if (event.name !== undefined) call.name = event.name;
          call.arguments += event.arguments;
          return { kind: "tool_call", delta };
        }
        case "finish":
          finish = { finishReason: event.reason, ...(event.isUnknown === true ? { isFinishUnknown: true } : {}) };
          return null;
        case "reasoning":
          reasoning = appendReasoning(reasoning, event.reasoning);
          return { kind: "reasoning", reasoning: event.reasoning };
        case "open":
        case "model":
        case "usage":
          return null;
      }
    },
    content: () => {
      if (finish === null) return null;
      return { text, ...(reasoning === null ? {} : { reasoning }), toolCalls: dense(toolCalls), ...finish };
    },
    texts: () => [text, reasoning?.text ?? "", ...dense(toolCalls).map((call) => call.arguments)],
    tokens: () => estimateOutputTokens({ text, toolCalls: dense(toolCalls) }),
  };
}

/** More than any model produces in one answer. Further reasoning is dropped. */
const MOST_REASONING_CHARACTERS = 2_000_000;

/** Appends reasoning under the field name that came first. */
export function appendReasoning(before: Reasoning | null, { field, text }: Reasoning): Reasoning {
  if (before === null) return { field, text };
  if (before.text.length + text.length > MOST_REASONING_CHARACTERS) return before;
  return { field: before.field, text: before.text + text };
}

/** Indexes count from 0. An index that a provider skipped has no call. */
function dense(calls: readonly (ToolCall | undefined)[]): readonly ToolCall[] {
  return calls.filter((call) => call !== undefined);
}
