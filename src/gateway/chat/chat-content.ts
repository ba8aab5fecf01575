// The answer of a chat: text, tool calls, reasoning and finish reason.
import type { ToolCall } from "../../contract/chat/chat.ts";
import type { ChatFinishReason, Reasoning } from "../../providers/chat/chat-provider.ts";

export interface ChatContent {
  /** Null or empty: the answer consists of tool calls only. */
  readonly text: string | null;
  /** For an answer in one piece. The parts of a stream carry their own flag. */
  readonly isRefusal?: boolean;
  readonly reasoning?: Reasoning;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: ChatFinishReason;
  readonly isFinishUnknown?: true;
}
