// A streamed answer put together again, the same as the plain one would have been (contract 7, `chat.completed`).
import type { ChatEvent, ChatFinishReason, ChatResult, ChatToolCall, ChatUsage } from "./chat-provider.ts";

export interface ChatAssembly {
  add(event: ChatEvent): void;
  /** What there is so far; null until the finish. */
  result(): ChatResult | null;
  /** What was reported, finished or not; `isFinal: false` when more was written than it counts. */
  usage(): { readonly usage: ChatUsage; readonly isFinal: boolean } | null;
  /** Characters of text and arguments received, for an estimate where nothing was reported. */
  outputCharacters(): number;
}

export function assembleChat(): ChatAssembly {
  const calls: { id: string; name: string; arguments: string }[] = [];
  let text = "";
  let characters = 0;
  let reported: { readonly usage: ChatUsage; readonly isFinal: boolean } | null = null;
  let finishReason: ChatFinishReason | null = null;
  let providerRequestId: string | null = null;

  function addCall({ index, id, name, arguments: written }: Extract<ChatEvent, { type: "tool_call" }>): void {
    calls[index] ??= { id: id ?? "", name: name ?? "", arguments: "" };
    calls[index].arguments += written;
    characters += written.length + (name?.length ?? 0);
  }

  return {
    add: (event) => {
      switch (event.type) {
        case "open":
          providerRequestId = event.providerRequestId;
          return;
        case "text":
          text += event.text;
          characters += event.text.length;
          return;
        case "tool_call":
          return addCall(event);
        case "usage":
          reported = { usage: event.usage, isFinal: event.isFinal };
          return;
        case "finish":
          finishReason = event.reason;
      }
    },
    result: () => {
      if (finishReason === null) return null;
      const toolCalls: readonly ChatToolCall[] = [...calls];
      const usage = reported?.isFinal === true ? reported.usage : null;
      return { text: text === "" && calls.length > 0 ? null : text, toolCalls, finishReason, usage, providerRequestId };
    },
    usage: () => reported,
    outputCharacters: () => characters,
  };
}
