// Conversations for the protocols that know two speakers and instructions apart (Anthropic, Gemini): neighbours of one
// speaker become one turn, and tool results are something the user says.
import type { ChatMessage } from "./chat-provider.ts";

type Instruction = Extract<ChatMessage, { readonly role: "system" }>;
type Spoken = Exclude<ChatMessage, { readonly role: "system" }>;

export interface Turn {
  readonly speaker: "user" | "assistant";
  readonly messages: readonly Spoken[];
}

export interface Conversation {
  /** null: none. Instructions from anywhere in the conversation, in their order. */
  readonly instructions: string | null;
  /** The same, one by one. */
  readonly instructed: readonly Instruction[];
  readonly turns: readonly Turn[];
}

/** Both protocols want the user to begin; a conversation may begin with a greeting. It says as little as can be said. */
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
  // Both protocols want a turn to answer: of instructions alone, the last is what there is to answer.
  const alone = turns.length === 0 ? instructed.pop()?.text : undefined;
  if (alone !== undefined)
    turns.push({ speaker: "user", messages: [{ role: "user", parts: [{ kind: "text", text: alone }] }] });
  if (turns[0]?.speaker === "assistant") turns.unshift({ speaker: "user", messages: [OPENING] });
  const instructions = instructed.length === 0 ? null : instructed.map(({ text }) => text).join("\n");
  return { instructions, instructed, turns };
}

/** What says nothing is no turn there, and would be refused as an empty one. */
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
