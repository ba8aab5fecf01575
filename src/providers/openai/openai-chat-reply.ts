// Parses OpenAI's chat replies, whole and streamed, including the variants of compatible servers: content as parts, arguments as objects, calls without an
// index, usage in unusual places.
import { z } from "zod";
import { signedId } from "../../contract/chat/tool-call-signature.ts";
import type {
  ChatEvent,
  ChatFinishReason,
  ChatResult,
  ChatToolCall,
  ChatUsage,
  Reasoning,
} from "../chat/chat-provider.ts";
import { answeredBy, modelField } from "../answered-model.ts";
import { argumentsSent, partsOf, tokens, uniqueCallId, usageOf, writtenArguments } from "../chat/chat-values.ts";
import { asRecord } from "../../lib/json/json-guards.ts";
import type { EventReader } from "../wire/chat-wire.ts";
import {
  type ChatEnding,
  createFinishTracker,
  endingOf,
  finishFields,
  hasReason,
  UNNAMED_ENDING,
} from "../chat/finish-reasons.ts";
import { ProviderError } from "../io.ts";
import { type CallPiece, createCallSorter } from "./openai-call-pieces.ts";
import { originOf } from "./openai-history.ts";
import { type JsonReply, requestIdOf } from "../wire/read-reply.ts";

const content = z.union([z.string(), partsOf(z.object({ type: z.string(), text: z.string().optional() }))]).nullish();

/** Mistral sends parts, some of which are thoughts and not the answer. */
function contentText(value: z.infer<typeof content>): string {
  if (typeof value === "string") return value;
  return (value ?? []).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

const calledFunction = z.object({
  name: z.string().nullish(),
  // Ollama has sent objects.
  arguments: z
    .union([z.string(), argumentsSent])
    .nullish()
    .transform((value) => (typeof value === "object" && value !== null ? writtenArguments(value) : (value ?? ""))),
});

const toolCall = z.object({
  index: z
    .union([z.int(), z.string().regex(/^\d{1,4}$/u)])
    .nullish()
    .catch(undefined)
    .transform((index) => (index == null ? null : Number(index))),
  id: z.string().nullish(),
  function: calledFunction.optional(),
  extra_content: z
    .object({ google: z.object({ thought_signature: z.string().min(1) }) })
    .nullish()
    .catch(undefined),
});
type WireCall = Partial<z.infer<typeof toolCall>>;

const message = z.object({
  content,
  refusal: z.string().nullish(),
  tool_calls: partsOf(toolCall).nullish(),
  reasoning_content: z.unknown().optional(),
  reasoning: z.unknown().optional(),
  /** The protocol's first form, which some servers still use. */
  function_call: calledFunction.nullish(),
});

function callsOf(wireMessage: z.infer<typeof message> | null | undefined): readonly WireCall[] {
  const calls = wireMessage?.tool_calls ?? [];
  return calls.length === 0 && wireMessage?.function_call != null ? [{ function: wireMessage.function_call }] : calls;
}

const usage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens }).nullish().catch(undefined),
});

const reply = z.object({
  choices: partsOf(z.object({ message, finish_reason: z.string().nullish() })),
  /** Read by `toUsage`, like that of chunks. */
  usage: z.unknown().optional(),
});

/** A stream is parsed chunk by chunk, so what most chunks lack or need not be valid is checked where it is read: half of the garbage of a stream was zod's. */
const chunk = z.object({
  choices: partsOf(
    z.object({
      index: z.unknown().optional(),
      delta: message.nullish(),
      /** For a server that answers in one event. */
      message: message.nullish(),
      finish_reason: z.string().nullish(),
    }),
  ).nullish(),
  usage: z.unknown().optional(),
  x_groq: z.unknown().optional(),
});

type Choice = NonNullable<z.infer<typeof chunk>["choices"]>[number];

interface Seen {
  readonly text: boolean;
  readonly calls: boolean;
  readonly refusal: boolean;
}

function endingFor(reason: string, contentFlags: Seen): ChatEnding {
  const ending = endingOf(reason, contentFlags.text || contentFlags.calls);
  if (ending.reason === "tool_calls" && !contentFlags.calls && !contentFlags.text)
    throw new ProviderError("bad_reply", { reason: "no_calls" });
  return adjustEnding(ending, contentFlags);
}

/** A forced call ends with `stop` at OpenAI itself. A refusal is reported as a content filter. */
function adjustEnding(ending: ChatEnding, contentFlags: Seen): ChatEnding {
  if (ending.reason !== "stop") return ending;
  if (contentFlags.refusal) return { ...ending, reason: "content_filter" };
  return contentFlags.calls ? { ...ending, reason: "tool_calls" } : ending;
}

function refusalMark(wireMessage: z.infer<typeof message> | null | undefined): { readonly isRefusal?: true } {
  return wireMessage?.refusal && contentText(wireMessage.content) === "" ? { isRefusal: true } : {};
}

/** A call without arguments has an empty object. If the answer was truncated by its length, the missing part is unknown. */
function argumentsOf(written: string, finish: ChatFinishReason): string {
  return written === "" && finish !== "length" ? "{}" : written;
}

function signId(id: string, { extra_content: extra }: WireCall, model: string): string {
  return extra == null ? id : signedId(id, extra.google.thought_signature, originOf(model));
}

function reasoningIn({ reasoning_content: content, reasoning }: ReasoningFields): Reasoning | null {
  if (typeof content === "string" && content !== "") return { field: "reasoning_content", text: content };
  return typeof reasoning === "string" && reasoning !== "" ? { field: "reasoning", text: reasoning } : null;
}

type ReasoningFields = Partial<Pick<z.infer<typeof message>, "reasoning_content" | "reasoning">>;

export function readOpenAiAnswer({ body, headers }: JsonReply, model: string): ChatResult {
  const answered = reply.safeParse(body).data;
  const choice = answered?.choices[0];
  if (answered === undefined || choice === undefined) throw new ProviderError("bad_reply", { reason: "odd_shape" });
  const { refusal } = choice.message;
  const text = contentText(choice.message.content) || (refusal ?? "");
  const calls = callsOf(choice.message);
  if (!hasReason(choice.finish_reason)) throw new ProviderError("bad_reply", { reason: "no_finish" });
  const contentFlags = { text: text !== "", calls: calls.length > 0, refusal: Boolean(refusal) };
  const ending = endingFor(choice.finish_reason, contentFlags);
  const ids = new Set<string>();
  const toolCalls = calls.map((call): ChatToolCall => {
    const name = call.function?.name;
    if (name == null || name === "") throw new ProviderError("bad_reply", { reason: "nameless_call" });
    const written = argumentsOf(call.function?.arguments ?? "", ending.reason);
    return { id: signId(uniqueCallId(ids, call.id), call, model), name, arguments: written };
  });
  const reasoning = reasoningIn(choice.message);
  return {
    text: text === "" && toolCalls.length > 0 ? null : text,
    ...refusalMark(choice.message),
    ...(reasoning === null ? {} : { reasoning }),
    toolCalls,
    ...finishFields(ending),
    usage: toUsage(answered.usage),
    providerRequestId: requestIdOf(headers, "x-request-id"),
    ...answeredBy(modelField(body, "model")),
  };
}

function toUsage(value: unknown): ChatUsage | null {
  const reported = value == null ? undefined : usage.safeParse(value).data;
  if (reported === undefined) return null;
  return usageOf(reported.prompt_tokens, reported.completion_tokens, reported.prompt_tokens_details?.cached_tokens);
}

/** Anything but a number of another choice counts as the first. */
function isOtherChoice(index: unknown): boolean {
  return Number.isSafeInteger(index) && index !== 0;
}

export function openAiEvents(model: string): EventReader {
  const calls = createCallSorter();
  const finish = createFinishTracker();
  let hasText = false;
  let hasRefusal = false;

  function readChoice({ delta, message: whole, finish_reason: reason }: Choice, events: ChatEvent[]): void {
    const wireMessage = delta ?? whole;
    const text = contentText(wireMessage?.content) || (wireMessage?.refusal ?? "");
    const pieces = piecesOf(wireMessage, model);
    if (text !== "" || pieces.length > 0) finish.content();
    hasText ||= text !== "";
    hasRefusal ||= Boolean(wireMessage?.refusal);
    const reasoning = wireMessage == null ? null : reasoningIn(wireMessage);
    if (reasoning !== null) events.push({ type: "reasoning", reasoning });
    if (text !== "") events.push({ type: "text", text, ...refusalMark(wireMessage) });
    calls.read(pieces, events);
    finish.reason(reason);
  }

  function ending(isMarked: boolean): ChatEnding | null {
    const contentFlags = { text: hasText, calls: calls.count() > 0, refusal: hasRefusal };
    const reason = finish.last();
    if (reason !== null) return endingFor(reason, contentFlags);
    return isMarked && finish.hasContent() ? adjustEnding(UNNAMED_ENDING, contentFlags) : null;
  }

  return {
    read: (body) => {
      const parsed = chunk.safeParse(body);
      if (!parsed.success) throw new ProviderError("bad_reply", { reason: "odd_shape" });
      const events: ChatEvent[] = [];
      for (const choice of parsed.data.choices ?? []) {
        // Only one choice is requested.
        if (!isOtherChoice(choice.index)) readChoice(choice, events);
      }
      const reported = toUsage(parsed.data.usage) ?? toUsage(asRecord(parsed.data.x_groq)["usage"]);
      if (reported !== null) events.push({ type: "usage", usage: reported, isFinal: finish.last() !== null });
      return events;
    },
    // Azure's first event has an empty name.
    modelIn: (body) => modelField(body, "model"),
    isOver: () => finish.isOver(),
    end: (isMarked) => {
      const reached = ending(isMarked);
      return reached === null ? null : { ending: reached, rest: calls.rest(reached.reason) };
    },
  };
}

function piecesOf(wireMessage: z.infer<typeof message> | null | undefined, model: string): readonly CallPiece[] {
  return callsOf(wireMessage).map((call) => ({
    index: call.index ?? null,
    id: call.id,
    name: call.function?.name,
    arguments: call.function?.arguments ?? "",
    ...(call.extra_content == null ? {} : { sign: (id: string) => signId(id, call, model) }),
  }));
}
