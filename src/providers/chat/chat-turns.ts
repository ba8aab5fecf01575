// Converts conversations for protocols with two roles and separate instructions (Anthropic, Gemini): adjacent messages of one role become one turn, and tool
// results become messages of the user.
import type { ChatMessage } from "./chat-provider.ts";

type Instruction = Extract<ChatMessage, { readonly role: "system" }>;
type Spoken = Exclude<ChatMessage, { readonly role: "system" }>;

export interface Turn {
  readonly speaker: "user" | "assistant";
  readonly messages: readonly Spoken[];
}

export interface Conversation {
  /** Null: none. Instructions from anywhere in the conversation, in order. */
  readonly instructions: string | null;
  /** The same instructions as separate items. */
  readonly instructed: readonly Instruction[];
  readonly turns: readonly Turn[];
}

/** Both protocols require the user to begin, but a conversation may begin with a greeting. This opening is as neutral as possible. */
const OPENING: Spoken = { role: "user", parts: [{ kind: "text", text: "." }] };

export function conversationOf(messages: readonly ChatMessage[]): Conversation {
  const instructed: Instruction[] = [];
  const turns: { speaker: Turn["speaker"]; messages: Spoken[] }[] = [];
  for (const message of messages) {
    if (message.role === "system") {
      if (!isBlank(message.text)) instructed.push(message);
      continue;
    }
    if (isSilent(message)) continue;
    const speaker = message.role === "assistant" ? "assistant" : "user";
    const last = turns.at(-1);
    if (last?.speaker === speaker) last.messages.push(message);
    else turns.push({ speaker, messages: [message] });
  }
  // Both protocols require a turn to answer: from instructions alone, the last one becomes that turn.
  const lastInstruction = turns.length === 0 ? instructed.pop()?.text : undefined;
  if (lastInstruction !== undefined)
    turns.push({ speaker: "user", messages: [{ role: "user", parts: [{ kind: "text", text: lastInstruction }] }] });
  if (turns[0]?.speaker === "assistant") turns.unshift({ speaker: "user", messages: [OPENING] });
  const instructions = instructed.length === 0 ? null : instructed.map(({ text }) => text).join("\n");
  return { instructions, instructed, turns };
}

/** Both protocols refuse an empty turn. */
function isSilent(message: Spoken): boolean {
  switch (message.role) {
    case "user":
      return message.parts.every((part) => part.kind === "text" && isBlank(part.text));
    case "assistant":
      return isBlank(message.text ?? "") && message.toolCalls.length === 0;
    case "tool":
      return false;
  }
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}
