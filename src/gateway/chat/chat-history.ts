// What a conversation brings back of other backends' answers: which fields there are, and those of them that targets understand. Pure.
import type { ChatMessage as GivenMessage } from "../../contract/chat.ts";
import { HISTORY_FIELDS, type HistoryField } from "../../contract/chat-history.ts";
import { asRecord, asString } from "../../lib/json/json-guards.ts";
import type { CacheControl, Reasoning } from "../../providers/chat/chat-provider.ts";

type GivenAssistant = Extract<GivenMessage, { role: "assistant" }>;
type GivenCall = NonNullable<GivenAssistant["tool_calls"]>[number];

/** A message of role and text alone has none. */
const PLAIN_MEMBERS = 2;

/** Each once, in the order of the contract. */
export function historyFieldsIn(
  messages: readonly GivenMessage[],
  tools: readonly { readonly cache_control?: unknown }[],
): readonly HistoryField[] {
  const found = new Set<string>();
  for (const message of messages) {
    if (Object.keys(message).length > PLAIN_MEMBERS) collect(message, found);
    if (typeof message.content === "object" && message.content !== null)
      for (const part of message.content) collect(part, found);
    if (message.role === "assistant") for (const call of message.tool_calls ?? []) collect(call, found);
  }
  for (const tool of tools) collect(tool, found);
  return found.size === 0 ? NONE : HISTORY_FIELDS.filter((field) => found.has(field));
}

const NONE: readonly HistoryField[] = [];

function collect(of: object, found: Set<string>): void {
  const values = of as Readonly<Record<string, unknown>>;
  for (const field of HISTORY_FIELDS) if (saysSomething(values[field])) found.add(field);
}

function saysSomething(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

export function reasoningOf({ reasoning_content: content, reasoning }: GivenAssistant): Reasoning | null {
  if (content) return { field: "reasoning_content", text: content };
  return typeof reasoning === "string" && reasoning !== "" ? { field: "reasoning", text: reasoning } : null;
}

/** Google's own place for it, and LiteLLM's. */
export function signatureOf({ extra_content: extra, provider_specific_fields: specific }: GivenCall): string | null {
  const { google } = asRecord(extra);
  return asString(asRecord(google)["thought_signature"]) ?? asString(asRecord(specific)["thought_signature"]);
}

/** Anthropic's. Any other is of no use to a target. */
export function cacheControlOf({ cache_control: given }: { readonly cache_control?: unknown }): CacheControl | null {
  const { type, ttl } = asRecord(given);
  if (type !== "ephemeral") return null;
  return ttl === "5m" || ttl === "1h" ? { type, ttl } : { type };
}
