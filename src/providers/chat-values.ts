// Figures and pieces of chat replies, read leniently: a figure that makes no sense is missing, never a failure [providers.usage].
import { createHash, randomUUID } from "node:crypto";
import { z } from "zod";
import { isRecord } from "../lib/json/json-guards.ts";
import type { ChatUsage } from "./chat-provider.ts";
import { ProviderError } from "./io.ts";
import { parsedReply } from "./read-reply.ts";

/** Beyond any model's context: a report of more is a fault, and at a price it would be more money than can be counted. */
const MOST_TOKENS = 1_000_000_000;

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MOST_TOKENS;
}

/** A count of tokens; anything else is undefined. */
export const tokens = z.int().min(0).max(MOST_TOKENS).optional().catch(undefined);

/** null unless both sides were counted; nothing cached is more than what went in. */
export function usageOf(input: number | undefined, output: number | undefined, cached = 0): ChatUsage | null {
  if (input === undefined || output === undefined) return null;
  return { inputTokens: input, outputTokens: output, cachedInputTokens: Math.min(cached, input) };
}

/** Of one answer or event. A few dozen are many; to look at a million empty ones takes a schema seconds. */
export const MOST_PARTS = 1_000;

/** Parts of an answer. Too long a list is refused before its members are looked at. */
export function partsOf<Part extends z.ZodType>(part: Part) {
  return z.custom<unknown[]>((list) => Array.isArray(list) && list.length <= MOST_PARTS).pipe(z.array(part));
}

/** Arguments as an object. What is in it is not looked at, which takes a schema half a second for a million members. */
export const argumentsSent = z.custom<Readonly<Record<string, unknown>>>(isRecord);

/** For servers that name no calls. */
export function newCallId(): string {
  return `call_${randomUUID().replaceAll("-", "")}`;
}

/** The provider's own id, or one of ours where it has none or gave it to an earlier call of the same answer. */
export function uniqueCallId(given: Set<string>, id: string | null | undefined): string {
  const unique = id && !given.has(id) ? id : newCallId();
  given.add(unique);
  return unique;
}

/** As deep as callers' own JSON may be. JSON.parse takes any depth; JSON.stringify, at some thousand levels, has no stack left. */
const MAX_DEPTH = 64;

/** Arguments that a provider sent as an object. */
export function writtenArguments(value: unknown): string {
  if (!isShallow(value)) throw new ProviderError("bad_reply", { reason: "too_deep" });
  return JSON.stringify(value);
}

function isShallow(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}

/** Arguments for protocols that want an object: what is none, or broken, is kept under a name of its own. */
export function argumentsObject(text: string): Readonly<Record<string, unknown>> {
  return objectOrNull(text.trim() === "" ? "{}" : text) ?? { unparsed: text };
}

/** For a request that it becomes part of. */
export function objectOrNull(text: string): Readonly<Record<string, unknown>> | null {
  const value = parsedReply({ text });
  return isRecord(value) && isShallow(value) ? value : null;
}

/**
 * An id as a provider takes it. A conversation may have begun at another one, so an id of foreign shape becomes one
 * that fits: always the same, so that calls and their results still belong together.
 */
export function fittingId(id: string, shape: { readonly pattern: RegExp; readonly length: number }): string {
  return shape.pattern.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, shape.length);
}
