// Receipts of a chat answer: which required features it shows [chat.receipts]. Pure. A stream is judged when
// it is over, which is too late to turn to another target but not too late to report it.
import type { ChatFeature } from "../contract/features.ts";
import { isRecord } from "../lib/json/json-guards.ts";
import { askedChatFeatures } from "./asked-chat-features.ts";
import type { ChatReceipt, ChatRequest, ChatResult } from "./chat-provider.ts";
import { parsedReply } from "./read-reply.ts";

/** What both a reply and an assembled stream come down to. */
type ChatContent = Pick<ChatResult, "text" | "toolCalls" | "finishReason">;

export function chatReceipts(request: ChatRequest, result: ChatContent): readonly ChatReceipt[] {
  return askedChatFeatures(request).map((feature) => ({ feature, ...receiptOf(feature, request, result) }));
}

function receiptOf(
  feature: ChatFeature,
  { toolChoice }: ChatRequest,
  { text, toolCalls, finishReason }: ChatContent,
): Omit<ChatReceipt, "feature"> {
  // What was cut by its length or withheld by a filter proves nothing either way.
  const isWhole = finishReason === "stop" || finishReason === "tool_calls";
  const shown = (delivered: boolean): Omit<ChatReceipt, "feature"> => ({ grade: "shown", delivered });
  switch (feature) {
    case "tool_choice":
      if (toolChoice?.kind === "none") return shown(toolCalls.length === 0);
      return shown(!isWhole || toolCalls.some((call) => toolChoice?.kind !== "tool" || call.name === toolChoice.name));
    case "parallel_tool_calls":
      return shown(toolCalls.length <= 1);
    case "response_format.json_object":
      return shown(finishReason !== "stop" || isRecord(parsedReply({ text: text ?? "" })));
    case "response_format.json_schema":
      return shown(finishReason !== "stop" || parsedReply({ text: text ?? "" }) !== undefined);
    case "tools":
    case "image_parts":
    case "audio_parts":
      return { grade: "sent", delivered: true };
  }
}
