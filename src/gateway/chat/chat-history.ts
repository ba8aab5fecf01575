// Finds fields that other backends added to answers in a conversation's history, and reads those that targets understand: reasoning, signatures, cache
// marks. Pure.
import type { ChatMessage as InputMessage } from "../../contract/chat/chat-parts.ts";
import { HISTORY_FIELDS, type HistoryField } from "../../contract/chat/chat-history.ts";
import { asRecord, asString } from "../../lib/json/json-guards.ts";
import type { CacheControl, Reasoning } from "../../providers/chat/chat-provider.ts";

type AssistantMessage = Extract<InputMessage, { role: "assistant" }>;
type InputCall = NonNullable<AssistantMessage["tool_calls"]>[number];

/** A message with a role and text alone has no such fields. */
const PLAIN_MEMBERS = 2;

/** Each field once, in the order of the contract. */
export function historyFieldsIn(
  messages: readonly InputMessage[],
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

function collect(item: object, found: Set<string>): void {
  const values = item as Readonly<Record<string, unknown>>;
  for (const field of HISTORY_FIELDS) if (hasContent(values[field])) found.add(field);
}

function hasContent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

export function reasoningOf({ reasoning_content: content, reasoning }: AssistantMessage): Reasoning | null {
  if (content) return { field: "reasoning_content", text: content };
  return typeof reasoning === "string" && reasoning !== "" ? { field: "reasoning", text: reasoning } : null;
}

/** The signature is in Google's own field or in LiteLLM's. */
export function signatureOf({ extra_content: extra, provider_specific_fields: specific }: InputCall): string | null {
  const { google } = asRecord(extra);
  return asString(asRecord(google)["thought_signature"]) ?? asString(asRecord(specific)["thought_signature"]);
}

/** Anthropic's cache control. No target understands any other. */
export function cacheControlOf({ cache_control: control }: { readonly cache_control?: unknown }): CacheControl | null {
  const { type, ttl } = asRecord(control);
  if (type !== "ephemeral") return null;
  return ttl === "5m" || ttl === "1h" ? { type, ttl } : { type };
}
