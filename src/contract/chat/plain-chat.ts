// A fast check for most chats, which consist of texts and a few numbers. Everything it accepts is also valid for the endpoint's schema, and that check takes a
// fortieth of the whole exchange; everything else, above all invalid input, is left to that schema.
import { type ChatFields, MOST_MESSAGES, MOST_OUTPUT_TOKENS } from "./chat.ts";

const isShare = (most: number) => (value: unknown) => typeof value === "number" && value >= 0 && value <= most;
const isBoolean = (value: unknown): boolean => typeof value === "boolean";

const IS_PLAIN: ReadonlyMap<string, (value: unknown) => boolean> = new Map<string, (value: unknown) => boolean>([
  ["messages", isPlainConversation],
  ["max_tokens", (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_OUTPUT_TOKENS],
  ["temperature", isShare(2)],
  ["top_p", isShare(1)],
  ["stream", isBoolean],
  ["dry_run", isBoolean],
]);

export function isPlainChat(body: object): body is ChatFields {
  if (!Object.hasOwn(body, "messages")) return false;
  for (const [name, value] of Object.entries(body)) if (IS_PLAIN.get(name)?.(value) !== true) return false;
  return true;
}

function isPlainConversation(messages: unknown): boolean {
  if (!Array.isArray(messages) || messages.length > MOST_MESSAGES) return false;
  let isAsked = false;
  for (const message of messages) {
    if (!isPlainMessage(message)) return false;
    isAsked ||= message.role !== "system";
  }
  return isAsked;
}

function isPlainMessage(message: unknown): message is { readonly role: string; readonly content: string } {
  if (typeof message !== "object" || message === null || Object.keys(message).length !== 2) return false;
  const { role, content } = message as { readonly role?: unknown; readonly content?: unknown };
  return typeof content === "string" && (role === "user" || role === "system" || role === "assistant");
}
