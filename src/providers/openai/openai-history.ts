// Selects what an OpenAI-compatible target is sent of earlier answers: signatures of tool calls, and which history fields count as sent.
import { createHash } from "node:crypto";
import { splitSignedId } from "../../contract/chat/tool-call-signature.ts";
import type { HistoryField } from "../../contract/chat/chat-history.ts";
import type { ChatRequest, ChatTarget, ChatToolCall } from "../chat/chat-provider.ts";
import type { ChatDialect } from "./openai-chat-dialects.ts";

/** Identifies the model that signed a call, so that only it gets the signature back. */
export function originOf(model: string): string {
  return createHash("sha256").update(model).digest("hex").slice(0, 8);
}

/** Fields such as `extra_content` count only if they contained a call's signature. */
export function keptHistory(request: ChatRequest, target: ChatTarget, dialect: ChatDialect): readonly HistoryField[] {
  if (request.history === undefined) return [];
  const calls = request.messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  const isSigned = calls.some(
    (call) => call.signature !== undefined && "extra_content" in signatureFor(call, target, dialect),
  );
  const reasoning = dialect.history.filter((field) => field !== "extra_content");
  return isSigned ? [...reasoning, "extra_content", "provider_specific_fields"] : reasoning;
}

/** Google's models require their signatures. For other servers they are an unknown field. */
export function signatureFor(call: ChatToolCall, { model }: ChatTarget, { history }: ChatDialect): object {
  const { signature: ofId, origin } = splitSignedId(call.id);
  const signature = ofId ?? call.signature;
  if (signature === undefined || !history.includes("extra_content")) return {};
  // If the id does not identify the origin, the caller's field does.
  const isTheirs = ofId === null || origin === originOf(model) || /gemini/iu.test(model);
  return isTheirs ? { extra_content: { google: { thought_signature: signature } } } : {};
}
