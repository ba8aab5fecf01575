// A message of OpenAI's in our words (contract 8). Pure.
import type { ChatMessage } from "../../contract/chat.ts";
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
      return { role: "system", content: message.content };
    case "user":
      return { role: "user", content: message.content };
    case "assistant":
      return {
        role: "assistant",
        content: saidBy(message),
        ...(message.tool_calls == null ? {} : { tool_calls: message.tool_calls.map(toCall) }),
      };
    case "tool": {
      const { content } = message;
      const text = typeof content === "string" ? content : content.map((part) => part.text).join("");
      return { role: "tool", tool_call_id: message.tool_call_id, content: text };
    }
  }
}

function toCall(call: GivenCall): NonNullable<OwnAssistantMessage["tool_calls"]>[number] {
  if (!("function" in call)) return call;
  const { name, arguments: text } = call.function;
  return { id: call.id, type: call.type, function: { name, arguments: text } };
}

/** A refusal is what was said, as it is the content of an answer of ours. */
function saidBy({ content, refusal }: AssistantMessage): OwnAssistantMessage["content"] {
  const said = Array.isArray(content)
    ? content.map((part) => textPart(part.type === "text" ? part.text : part.refusal))
    : content;
  if (!refusal) return said;
  if (!said) return refusal;
  return [...(typeof said === "string" ? [textPart(said)] : said), textPart(refusal)];
}

function textPart(text: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text };
}
