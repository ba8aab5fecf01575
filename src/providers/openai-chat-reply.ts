// OpenAI's chat answers, whole and in pieces, with what the compatible servers make of them: content as parts, arguments as
// objects, calls without an index, usage in odd places.
import { z } from "zod";
import type { ChatEvent, ChatFinishReason, ChatResult, ChatToolCall, ChatUsage } from "./chat-provider.ts";
import { finishIn, type FinishReasons, isCount, newCallId, tokens, usageOf } from "./chat-values.ts";
import type { EventReader } from "./chat-wire.ts";
import { ProviderError } from "./io.ts";
import { type JsonReply, requestIdOf } from "./read-reply.ts";

const content = z
  .union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))])
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
    .union([z.string(), z.record(z.string(), z.unknown())])
    .nullish()
    .transform((value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? ""))),
});

const toolCall = z.object({
  index: z.int().nullish(),
  id: z.string().nullish(),
  function: calledFunction.optional(),
});

const message = z.object({
  content,
  refusal: z.string().nullish(),
  tool_calls: z.array(toolCall).nullish(),
});

const usage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens }).nullish().catch(undefined),
});

const reply = z.object({
  choices: z.array(z.object({ message, finish_reason: z.string().nullish() })).min(1),
  usage: usage.nullish().catch(undefined),
});

const chunk = z.object({
  choices: z.array(z.object({ delta: message.nullish(), finish_reason: z.string().nullish() })).nullish(),
  usage: usage.nullish().catch(undefined),
  x_groq: z.object({ usage: usage.nullish() }).nullish().catch(undefined),
});

const FINISH: FinishReasons = {
  stop: "stop",
  eos: "stop",
  length: "length",
  model_length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

/** A forced call ends with `stop` at OpenAI itself; a refusal is a filter by another name. */
function finishOf(reason: string, seen: { readonly calls: boolean; readonly refusal: boolean }): ChatFinishReason {
  const finish = finishIn(FINISH, reason);
  if (finish !== "stop") return finish;
  if (seen.refusal) return "content_filter";
  return seen.calls ? "tool_calls" : "stop";
}

function refusalMark(said: z.infer<typeof message> | null | undefined): { readonly isRefusal?: true } {
  return said?.refusal && !said.content ? { isRefusal: true } : {};
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
  const toolCalls = (choice.message.tool_calls ?? []).map((call): ChatToolCall => {
    const name = call.function?.name;
    if (name == null || name === "") throw new ProviderError("bad_reply", { reason: "nameless_call" });
    return { id: call.id || newCallId(), name, arguments: call.function?.arguments || "{}" };
  });
  const { refusal } = choice.message;
  const text = choice.message.content || (refusal ?? "");
  if (choice.finish_reason == null) throw new ProviderError("bad_reply", { reason: "no_finish" });
  return {
    text: text === "" && toolCalls.length > 0 ? null : text,
    ...refusalMark(choice.message),
    toolCalls,
    finishReason: finishOf(choice.finish_reason, { calls: toolCalls.length > 0, refusal: Boolean(refusal) }),
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
  let finish: string | null = null;
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
    if (piece.index != null) positions.set(piece.index, calls.length);
    calls.push({ wireId: piece.id || null, hasArguments: written !== "" });
    return { type: "tool_call", index: calls.length - 1, id: piece.id || newCallId(), name, arguments: written };
  }

  function readFinish(reason: string): readonly ChatEvent[] {
    finish = reason;
    return calls.flatMap((call, index): readonly ChatEvent[] => {
      if (call.hasArguments) return [];
      call.hasArguments = true;
      return [{ type: "tool_call", index, arguments: "{}" }];
    });
  }

  return {
    read: (body) => {
      const parsed = chunk.safeParse(body);
      if (!parsed.success) throw new ProviderError("bad_reply", { reason: "odd_shape" });
      const events: ChatEvent[] = [];
      for (const { delta, finish_reason: reason } of parsed.data.choices ?? []) {
        const text = delta?.content || (delta?.refusal ?? "");
        hasRefusal ||= Boolean(delta?.refusal);
        if (text !== "") events.push({ type: "text", text, ...refusalMark(delta) });
        for (const piece of delta?.tool_calls ?? []) events.push(readCall(piece));
        if (reason != null && reason !== "") for (const event of readFinish(reason)) events.push(event);
      }
      const reported = toUsage(parsed.data.usage ?? parsed.data.x_groq?.usage);
      if (reported !== null) events.push({ type: "usage", usage: reported, isFinal: finish !== null });
      return events;
    },
    finishReason: () => (finish === null ? null : finishOf(finish, { calls: calls.length > 0, refusal: hasRefusal })),
  };
}
