// Parses figures and parts of chat replies leniently: an implausible figure counts as missing, never as a failure [providers.usage].
import { createHash, randomUUID } from "node:crypto";
import { z } from "zod";
import { isRecord } from "../../lib/json/json-guards.ts";
import type { ChatUsage } from "./chat-provider.ts";
import { ProviderError } from "../io.ts";
import { parsedReply } from "../wire/read-reply.ts";

/** Beyond any model's context: a larger report is an error, and multiplied by a price it would overflow. */
const MOST_TOKENS = 1_000_000_000;

/** A token count. Any other value is undefined. */
export const tokens = z.int().min(0).max(MOST_TOKENS).optional().catch(undefined);

/** Null unless input and output were reported. Cached input is at most the input. */
export function usageOf(input: number | undefined, output: number | undefined, cached = 0): ChatUsage | null {
  if (input === undefined || output === undefined) return null;
  return { inputTokens: input, outputTokens: output, cachedInputTokens: Math.min(cached, input) };
}

/** Most parts of one answer or event. A few dozen are many, and checking a million empty ones takes a schema seconds. */
export const MOST_PARTS = 1_000;

/** Parts of an answer. A list that is too long is refused before its items are checked. */
export function partsOf<Part extends z.ZodType>(part: Part) {
  return z.custom<unknown[]>((list) => Array.isArray(list) && list.length <= MOST_PARTS).pipe(z.array(part));
}

/** Arguments as an object. Its members are not checked, which would take a schema half a second for a million. */
export const argumentsSent = z.custom<Readonly<Record<string, unknown>>>(isRecord);

/** For servers that do not identify their calls. */
export function newCallId(): string {
  return `call_${randomUUID().replaceAll("-", "")}`;
}

/** The provider's own id, or a generated one if it has none or used it for an earlier call of the same answer. */
export function uniqueCallId(usedIds: Set<string>, id: string | null | undefined): string {
  const unique = id && !usedIds.has(id) ? id : newCallId();
  usedIds.add(unique);
  return unique;
}

/** The depth limit of callers' JSON. JSON.parse accepts any depth, but JSON.stringify overflows the stack at some thousand levels. */
const MAX_DEPTH = 64;

/** Serializes arguments that a provider sent as an object. */
export function writtenArguments(value: unknown): string {
  if (!isShallow(value)) throw new ProviderError("bad_reply", { reason: "too_deep" });
  return JSON.stringify(value);
}

function isShallow(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}

/** Arguments for protocols that require an object: any other value, or invalid JSON, is wrapped under a fixed key. */
export function argumentsObject(text: string): Readonly<Record<string, unknown>> {
  return objectOrNull(text.trim() === "" ? "{}" : text) ?? { unparsed: text };
}

/** Parses an object that becomes part of a request. */
export function objectOrNull(text: string): Readonly<Record<string, unknown>> | null {
  const value = parsedReply({ text });
  return isRecord(value) && isShallow(value) ? value : null;
}

/**
 * An id that a provider accepts. A conversation may have begun at another provider, so an id of another shape is mapped to a fitting one, always the same, so
 * that calls and results still match.
 */
export function fittingId(id: string, shape: { readonly pattern: RegExp; readonly length: number }): string {
  return shape.pattern.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, shape.length);
}
