// OpenAI's chat answers, whole and in pieces, with what the compatible servers make of them: content as parts, arguments as
// objects, calls without an index, usage in odd places.
import { z } from "zod";
import type { ChatEvent, ChatFinishReason, ChatResult, ChatToolCall, ChatUsage } from "./chat-provider.ts";
import {
  argumentsSent,
  partsOf,
  finishIn,
  type FinishReasons,
  isCount,
  MOST_PARTS,
  newCallId,
  tokens,
  usageOf,
  writtenArguments,
} from "./chat-values.ts";
import type { EventReader } from "./chat-wire.ts";
import { ProviderError } from "./io.ts";
import { type JsonReply, requestIdOf } from "./read-reply.ts";

const content = z
  .union([z.string(), partsOf(z.object({ type: z.string(), text: z.string().optional() }))])
  .nullish()
  // Mistral sends parts, some of which are thoughts and not the answer.
  .transform((value) => {
    if (typeof value === "string") return value;
    return (value ?? []).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
  });

const calledFunction = z.object({
  name: z.string().nullish(),
  // Ollama has sent objects.
  arguments: z
    .union([z.string(), argumentsSent])
    .nullish()
    .transform((value) => (typeof value === "object" && value !== null ? writtenArguments(value) : (value ?? ""))),
});

const toolCall = z.object({
  index: z.int().nullish(),
  id: z.string().nullish(),
  function: calledFunction.optional(),
});

const message = z.object({
  content,
  refusal: z.string().nullish(),
  tool_calls: partsOf(toolCall).nullish(),
});

const usage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens }).nullish().catch(undefined),
});

const reply = z.object({
  choices: partsOf(z.object({ message, finish_reason: z.string().nullish() })),
  usage: usage.nullish().catch(undefined),
});

const chunk = z.object({
  choices: partsOf(
    z.object({
      index: z.int().nullish().catch(undefined),
      delta: message.nullish(),
      finish_reason: z.string().nullish(),
    }),
  ).nullish(),
  usage: usage.nullish().catch(undefined),
  x_groq: z.object({ usage: usage.nullish() }).nullish().catch(undefined),
});

type Choice = NonNullable<z.infer<typeof chunk>["choices"]>[number];

const FINISH: FinishReasons = {
  stop: "stop",
  eos: "stop",
  length: "length",
  model_length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

interface Seen {
  readonly text: boolean;
  readonly calls: boolean;
  readonly refusal: boolean;
}

/** A forced call ends with `stop` at OpenAI itself; a refusal is a filter by another name. */
function finishOf(reason: string, seen: Seen): ChatFinishReason {
  const finish = finishIn(FINISH, reason);
  if (finish === "tool_calls" && !seen.calls && !seen.text)
    throw new ProviderError("bad_reply", { reason: "no_calls" });
  if (finish !== "stop") return finish;
  if (seen.refusal) return "content_filter";
  return seen.calls ? "tool_calls" : "stop";
}

function refusalMark(said: z.infer<typeof message> | null | undefined): { readonly isRefusal?: true } {
  return said?.refusal && !said.content ? { isRefusal: true } : {};
}

/** A call without arguments is one of nothing; where the answer was cut by its length, what was to come is not known. */
function argumentsOf(written: string, finish: ChatFinishReason): string {
  return written === "" && finish !== "length" ? "{}" : written;
}

type Answered = z.infer<typeof reply>;

/** Most answers: one text and its usage, which the schema would take as it is in ten times the time. Null: for the schema to judge. */
function plainAnswer(body: unknown): Answered | null {
  const { choices, usage: used } = (body ?? {}) as Partial<Answered>;
  if (!Array.isArray(choices) || choices.length !== 1) return null;
  const { message: said, finish_reason } = (choices[0] ?? {}) as Partial<Answered["choices"][number]>;
  if (typeof said?.content !== "string" || said.tool_calls != null || said.refusal != null) return null;
  if (typeof finish_reason !== "string" || !isCount(used?.prompt_tokens) || !isCount(used.completion_tokens))
    return null;
  const { prompt_tokens, completion_tokens, prompt_tokens_details: details } = used;
  if (details != null && !isCount(details.cached_tokens)) return null;
  return {
    choices: [{ message: said, finish_reason }],
    usage: { prompt_tokens, completion_tokens, prompt_tokens_details: details },
  };
}

export function readOpenAiAnswer({ body, headers }: JsonReply): ChatResult {
  const answered = plainAnswer(body) ?? reply.safeParse(body).data;
  const choice = answered?.choices[0];
  if (answered === undefined || choice === undefined) throw new ProviderError("bad_reply", { reason: "odd_shape" });
  const { refusal } = choice.message;
  const text = choice.message.content || (refusal ?? "");
  const calls = choice.message.tool_calls ?? [];
  if (choice.finish_reason == null) throw new ProviderError("bad_reply", { reason: "no_finish" });
  const seen = { text: text !== "", calls: calls.length > 0, refusal: Boolean(refusal) };
  const finishReason = finishOf(choice.finish_reason, seen);
  const toolCalls = calls.map((call): ChatToolCall => {
    const name = call.function?.name;
    if (name == null || name === "") throw new ProviderError("bad_reply", { reason: "nameless_call" });
    return { id: call.id || newCallId(), name, arguments: argumentsOf(call.function?.arguments ?? "", finishReason) };
  });
  return {
    text: text === "" && toolCalls.length > 0 ? null : text,
    ...refusalMark(choice.message),
    toolCalls,
    finishReason,
    usage: toUsage(answered.usage),
    providerRequestId: requestIdOf(headers, "x-request-id"),
  };
}

function toUsage(reported: z.infer<typeof usage> | null | undefined): ChatUsage | null {
  if (reported == null) return null;
  return usageOf(reported.prompt_tokens, reported.completion_tokens, reported.prompt_tokens_details?.cached_tokens);
}

interface OpenCall {
  readonly wireId: string | null;
  hasArguments: boolean;
}

export function openAiEvents(): EventReader {
  const calls: OpenCall[] = [];
  /** The last call of each index on the wire. */
  const positions = new Map<number, number>();
  let finish: ChatFinishReason | null = null;
  let hasText = false;
  let hasRefusal = false;

  /** By index; a server that counts none, or only from 0, starts a new call with each new id. */
  function indexOf({ index, id }: z.infer<typeof toolCall>): number {
    const at = index == null ? calls.length - 1 : (positions.get(index) ?? -1);
    return id != null && id !== "" && id !== calls[at]?.wireId ? -1 : at;
  }

  function readCall(piece: z.infer<typeof toolCall>): ChatEvent {
    const written = piece.function?.arguments ?? "";
    const known = indexOf(piece);
    const call = calls[known];
    if (call !== undefined) {
      call.hasArguments ||= written !== "";
      return { type: "tool_call", index: known, arguments: written };
    }
    const name = piece.function?.name;
    if (name == null || name === "") throw new ProviderError("bad_reply", { reason: "nameless_call" });
    if (calls.length >= MOST_PARTS) throw new ProviderError("bad_reply", { reason: "too_many_calls" });
    if (piece.index != null) positions.set(piece.index, calls.length);
    calls.push({ wireId: piece.id || null, hasArguments: written !== "" });
    return { type: "tool_call", index: calls.length - 1, id: piece.id || newCallId(), name, arguments: written };
  }

  function readFinish(reason: string): readonly ChatEvent[] {
    const reached = finishOf(reason, { text: hasText, calls: calls.length > 0, refusal: hasRefusal });
    finish = reached;
    return calls.flatMap((call, index): readonly ChatEvent[] => {
      const rest = call.hasArguments ? "" : argumentsOf("", reached);
      return rest === "" ? [] : [{ type: "tool_call", index, arguments: rest }];
    });
  }

  function readChoice({ delta, finish_reason: reason }: Choice, events: ChatEvent[]): void {
    const text = delta?.content || (delta?.refusal ?? "");
    hasText ||= text !== "";
    hasRefusal ||= Boolean(delta?.refusal);
    if (text !== "") events.push({ type: "text", text, ...refusalMark(delta) });
    for (const piece of delta?.tool_calls ?? []) events.push(readCall(piece));
    if (reason != null && reason !== "") for (const event of readFinish(reason)) events.push(event);
  }

  return {
    read: (body) => {
      const parsed = chunk.safeParse(body);
      if (!parsed.success) throw new ProviderError("bad_reply", { reason: "odd_shape" });
      const events: ChatEvent[] = [];
      for (const choice of parsed.data.choices ?? []) {
        // One choice is asked for. Behind its finish stands nothing of it: usage alone.
        if ((choice.index ?? 0) === 0 && finish === null) readChoice(choice, events);
      }
      const reported = toUsage(parsed.data.usage ?? parsed.data.x_groq?.usage);
      if (reported !== null) events.push({ type: "usage", usage: reported, isFinal: finish !== null });
      return events;
    },
    finishReason: () => finish,
  };
}
