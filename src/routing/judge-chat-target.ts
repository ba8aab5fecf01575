// Can this chat model do all of it? The verdict on one target, from its data and from its adapter's plan (contract 7). Pure.
import { CHAT_FEATURES, type ChatFeature, type ChatLack } from "../contract/features.ts";
import type { ChatModel, ChatPlanResult, ChatRequest } from "../providers/chat-provider.ts";

export interface ChatVerdict {
  /** Empty: the target is eligible. */
  readonly missing: readonly ChatLack[];
  /** What would be sent, and which preferences are left out; null where something is missing. */
  readonly planned: Extract<ChatPlanResult, { ok: true }> | null;
}

export function judgeChatTarget(model: ChatModel, request: ChatRequest, plan: () => ChatPlanResult): ChatVerdict {
  const missing: ChatLack[] = requiredChatFeatures(request).filter((feature) => !model.features.includes(feature));
  const { maxOutputTokens } = model.limits;
  if (request.maxTokens !== null && maxOutputTokens !== undefined && request.maxTokens > maxOutputTokens)
    missing.push("max_tokens");
  if (missing.length > 0) return { missing, planned: null };
  // The second wall: what the protocol cannot say is lacking, whatever the data claims.
  const planned = plan();
  return planned.ok ? { missing: [], planned } : { missing: planned.missing, planned: null };
}

/** In the order of `CHAT_FEATURES`; never dropped. */
export function requiredChatFeatures(request: ChatRequest): readonly ChatFeature[] {
  const parts = request.messages.flatMap((message) => (message.role === "user" ? message.parts : []));
  const required: { readonly [F in ChatFeature]: boolean } = {
    tools: request.tools.length > 0 || request.messages.some(usesTools),
    tool_choice: request.toolChoice !== null && request.toolChoice.kind !== "auto",
    parallel_tool_calls: request.parallelToolCalls !== null,
    "response_format.json_object": request.responseFormat.kind === "json_object",
    "response_format.json_schema": request.responseFormat.kind === "json_schema",
    image_parts: parts.some((part) => part.kind === "image"),
    audio_parts: parts.some((part) => part.kind === "audio"),
  };
  return CHAT_FEATURES.filter((feature) => required[feature]);
}

function usesTools(message: ChatRequest["messages"][number]): boolean {
  return message.role === "tool" || (message.role === "assistant" && message.toolCalls.length > 0);
}
