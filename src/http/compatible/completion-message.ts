// Translates a message of an OpenAI request to this API's fields. Pure [compatible.unused-members].
import type { ChatMessage } from "../../contract/chat/chat-parts.ts";
import { HISTORY_FIELDS } from "../../contract/chat/chat-history.ts";
import type { CompletionMessage } from "../../contract/chat/completion-message.ts";

type AssistantMessage = Extract<CompletionMessage, { readonly role: "assistant" }>;
type OwnAssistantMessage = Extract<ChatMessage, { readonly role: "assistant" }>;
type SentCall = NonNullable<AssistantMessage["tool_calls"]>[number];

/** If there are only system messages, the last one becomes a user message, because most models answer nothing without one. */
export function toMessages(inputMessages: readonly CompletionMessage[]): ChatMessage[] {
  const messages = inputMessages.map(toMessage);
  const last = messages.at(-1);
  if (last?.role !== "system" || messages.some(({ role }) => role !== "system")) return messages;
  return [...messages.slice(0, -1), { role: "user", content: last.content }];
}

function toMessage(message: CompletionMessage): ChatMessage {
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", content: message.content, ...cacheControlOf(message) };
    case "user":
      return { role: "user", content: message.content, ...cacheControlOf(message) };
    case "assistant":
      return {
        role: "assistant",
        content: contentOf(message),
        ...(message.tool_calls == null ? {} : { tool_calls: message.tool_calls.map(toCall) }),
        ...membersOf(message, HISTORY_FIELDS),
      };
    case "tool": {
      const { content } = message;
      const text = typeof content === "string" ? content : content.map((part) => part.text).join("");
      const part = typeof content === "string" ? undefined : content.findLast((each) => each.cache_control != null);
      const cached = cacheControlOf(part ?? message);
      return { role: "tool", tool_call_id: message.tool_call_id, content: text, ...cached };
    }
  }
}

function toCall(call: SentCall): NonNullable<OwnAssistantMessage["tool_calls"]>[number] {
  if (!("function" in call)) return call;
  const { name, arguments: text } = call.function;
  return { id: call.id, type: call.type, function: { name, arguments: text }, ...membersOf(call, HISTORY_FIELDS) };
}

function cacheControlOf(of: { readonly cache_control?: unknown }): { readonly cache_control?: unknown } {
  return membersOf(of, CACHE_CONTROL);
}

const CACHE_CONTROL = ["cache_control"] as const;

/** The named members that were sent. */
function membersOf<T extends object, Name extends string>(of: T, names: readonly Name[]): Pick<T, Name & keyof T> {
  const presentMembers = Object.entries(of).filter(
    ([name, value]) => value != null && (names as readonly string[]).includes(name),
  );
  return Object.fromEntries(presentMembers) as Pick<T, Name & keyof T>;
}

/** An assistant's refusal is part of its content, as in this API's responses. */
function contentOf({ content: sentContent, refusal }: AssistantMessage): OwnAssistantMessage["content"] {
  const content = Array.isArray(sentContent)
    ? sentContent.map((part) => (part.type === "text" ? part : textPart(part.refusal)))
    : sentContent;
  if (!refusal) return content;
  if (!content) return refusal;
  return [...(typeof content === "string" ? [textPart(content)] : content), textPart(refusal)];
}

function textPart(text: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text };
}
