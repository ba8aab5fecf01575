// Translates a message of OpenAI's to the native fields [compatible.unused-members]. Pure.
import type { ChatMessage } from "../../contract/chat.ts";
import { HISTORY_FIELDS } from "../../contract/chat-history.ts";
import type { CompletionMessage } from "../../contract/completion-message.ts";

type AssistantMessage = Extract<CompletionMessage, { readonly role: "assistant" }>;
type OwnAssistantMessage = Extract<ChatMessage, { readonly role: "assistant" }>;
type GivenCall = NonNullable<AssistantMessage["tool_calls"]>[number];

/** Instructions may be all there is. The last of them is then the question: most models answer nothing that no user said. */
export function toMessages(given: readonly CompletionMessage[]): ChatMessage[] {
  const messages = given.map(toMessage);
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
        content: saidBy(message),
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

function toCall(call: GivenCall): NonNullable<OwnAssistantMessage["tool_calls"]>[number] {
  if (!("function" in call)) return call;
  const { name, arguments: text } = call.function;
  return { id: call.id, type: call.type, function: { name, arguments: text }, ...membersOf(call, HISTORY_FIELDS) };
}

function cacheControlOf(of: { readonly cache_control?: unknown }): { readonly cache_control?: unknown } {
  return membersOf(of, CACHE_CONTROL);
}

const CACHE_CONTROL = ["cache_control"] as const;

/** Those that were sent. */
function membersOf<T extends object, Name extends string>(of: T, names: readonly Name[]): Pick<T, Name & keyof T> {
  const sent = Object.entries(of).filter(
    ([name, value]) => value != null && (names as readonly string[]).includes(name),
  );
  return Object.fromEntries(sent) as Pick<T, Name & keyof T>;
}

/** A refusal is what was said, as it is the content of an answer of ours. */
function saidBy({ content, refusal }: AssistantMessage): OwnAssistantMessage["content"] {
  const said = Array.isArray(content)
    ? content.map((part) => (part.type === "text" ? part : textPart(part.refusal)))
    : content;
  if (!refusal) return said;
  if (!said) return refusal;
  return [...(typeof said === "string" ? [textPart(said)] : said), textPart(refusal)];
}

function textPart(text: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text };
}
