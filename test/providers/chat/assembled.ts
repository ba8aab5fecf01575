// A streamed answer put together again, to be compared with the plain one (`chat.completed`).
import assert from "node:assert/strict";
import type { ChatEvent, ChatResult } from "../../../src/providers/chat/chat-provider.ts";

export function assembled(events: readonly ChatEvent[]): ChatResult {
  const calls: { id: string; name: string; arguments: string }[] = [];
  let text = "";
  let usage: ChatResult["usage"] = null;
  let finishReason: ChatResult["finishReason"] | null = null;
  let isFinishUnknown = false;
  let reasoning: ChatResult["reasoning"];
  let providerRequestId: string | null = null;
  let answeredModel: string | undefined;
  for (const event of events)
    switch (event.type) {
      case "open":
        providerRequestId = event.providerRequestId;
        break;
      case "model":
        answeredModel = event.name;
        break;
      case "text":
        text += event.text;
        break;
      case "tool_call":
        (calls[event.index] ??= { id: event.id ?? "", name: event.name ?? "", arguments: "" }).arguments +=
          event.arguments;
        break;
      case "usage":
        usage = event.isFinal ? event.usage : null;
        break;
      case "reasoning":
        reasoning = { field: event.reasoning.field, text: (reasoning?.text ?? "") + event.reasoning.text };
        break;
      case "finish":
        finishReason = event.reason;
        isFinishUnknown = event.isUnknown === true;
    }
  assert.ok(finishReason !== null, "no finish");
  return {
    text: text === "" && calls.length > 0 ? null : text,
    ...(reasoning === undefined ? {} : { reasoning }),
    toolCalls: calls,
    finishReason,
    ...(isFinishUnknown ? { isFinishUnknown } : {}),
    usage,
    providerRequestId,
    ...(answeredModel === undefined ? {} : { answeredModel }),
  };
}
