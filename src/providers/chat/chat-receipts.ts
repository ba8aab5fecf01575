// Creates the receipts of a chat answer: which required features it proves [chat.receipts]. Pure. A stream is judged after its end, which is too late for a
// fallback but not for a report.
import type { ChatFeature } from "../../contract/features.ts";
import { isRecord } from "../../lib/json/json-guards.ts";
import { askedChatFeatures } from "./unmet-chat-features.ts";
import type { ChatReceipt, ChatRequest, ChatResult } from "./chat-provider.ts";
import { parsedReply } from "../wire/read-reply.ts";

/** The common content of a reply and an assembled stream. */
type ChatContent = Pick<ChatResult, "text" | "toolCalls" | "finishReason">;

export function chatReceipts(request: ChatRequest, result: ChatContent): readonly ChatReceipt[] {
  return askedChatFeatures(request).map((feature) => ({ feature, ...receiptOf(feature, request, result) }));
}

function receiptOf(
  feature: ChatFeature,
  { toolChoice }: ChatRequest,
  { text, toolCalls, finishReason }: ChatContent,
): Omit<ChatReceipt, "feature"> {
  // An answer that was truncated or filtered proves nothing either way.
  const isWhole = finishReason === "stop" || finishReason === "tool_calls";
  const shownReceipt = (delivered: boolean): Omit<ChatReceipt, "feature"> => ({ grade: "shown", delivered });
  switch (feature) {
    case "tool_choice":
      if (toolChoice?.kind === "none") return shownReceipt(toolCalls.length === 0);
      return shownReceipt(
        !isWhole || toolCalls.some((call) => toolChoice?.kind !== "tool" || call.name === toolChoice.name),
      );
    case "parallel_tool_calls":
      return shownReceipt(toolCalls.length <= 1);
    case "response_format.json_object":
      return shownReceipt(finishReason !== "stop" || isRecord(parsedReply({ text: text ?? "" })));
    case "response_format.json_schema":
      return shownReceipt(finishReason !== "stop" || parsedReply({ text: text ?? "" }) !== undefined);
    case "tools":
    case "image_parts":
    case "audio_parts":
      return { grade: "sent", delivered: true };
  }
}
