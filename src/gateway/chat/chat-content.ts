// The answer of a chat: text, tool calls, reasoning and finish reason, and whether it proves what the request required.
import type { ToolCall } from "../../contract/chat/chat-parts.ts";
import type { ChatFinishReason, ChatRequest, Reasoning } from "../../providers/chat/chat-provider.ts";
import { chatReceipts } from "../../providers/chat/chat-receipts.ts";
import { ProviderError } from "../../providers/io.ts";

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

/** Requires proof of every required feature that an answer can show; without it the answer is withheld [chat.receipts]. */
export function requireReceipts(request: ChatRequest, content: ChatContent): void {
  const missing = chatReceipts(request, content).flatMap(({ feature, delivered }) => (delivered ? [] : [feature]));
  if (missing.length > 0) throw new ProviderError("feature_dropped", { reason: missing.join(",") });
}
