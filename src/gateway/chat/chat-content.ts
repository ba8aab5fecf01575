// The answer of a chat: text, tool calls, reasoning and finish reason.
import type { ToolCall } from "../../contract/chat.ts";
import type { ChatFinishReason, Reasoning } from "../../providers/chat/chat-provider.ts";

export interface ChatContent {
  /** null or empty: nothing but tool calls. */
  readonly text: string | null;
  /** Of an answer in one piece; a stream's pieces say it of themselves. */
  readonly isRefusal?: boolean;
  readonly reasoning?: Reasoning;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: ChatFinishReason;
  readonly isFinishUnknown?: true;
}
