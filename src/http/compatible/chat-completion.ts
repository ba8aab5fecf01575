// Translates OpenAI's chat completions to the native fields and back [compatible.completion]. Pure.
import { splitSignedId } from "../../contract/call-signature.ts";
import { type ChatAnswer, type ChatFields, type ToolCall } from "../../contract/chat.ts";
import { chatFieldsOfClients } from "../../contract/chat-request.ts";
import type { ChatCompletionFields } from "../../contract/openai-compatible.ts";
import type { ChatStreamPart } from "../../gateway/chat/chat-call.ts";
import { mapAsyncIterable } from "../../lib/concurrency/map-async-iterable.ts";
import { type ErrorReplyContext, toErrorBody } from "../reply/error-reply.ts";
import type { ServerEvent } from "../reply/sse.ts";
import { createFaults } from "../body/validation-issues.ts";
import { judgedFields } from "../body/fields.ts";
import { toMessages } from "./completion-message.ts";
import { purposeOfModel } from "./model-purpose.ts";

/** The same conversation as `POST /v1/chat` would be sent it, judged by the same schema. */
export function toChatFields(given: ChatCompletionFields): ChatFields {
  const { max_tokens, max_completion_tokens, tools, messages, model } = given;
  const { temperature, top_p, seed, stop, stream, tool_choice, parallel_tool_calls, response_format } = given;
  const { reasoning_effort, verbosity } = given;
  // Clients send an empty list where they mean none.
  const hasTools = tools !== undefined && tools.length > 0;
  const values = {
    messages: toMessages(messages),
    max_tokens: max_completion_tokens ?? max_tokens,
    temperature,
    top_p,
    seed,
    stop,
    stream,
    // Without tools `auto` and `none` ask for nothing; a call that must be made stays asked for, and is refused.
    ...(hasTools ? { tools, parallel_tool_calls } : {}),
    ...(hasTools || isForced(tool_choice) ? { tool_choice } : {}),
    response_format,
    reasoning_effort,
    verbosity,
    purpose: purposeOfModel(model),
  };
  return judgedFields(chatFieldsOfClients, values, createFaults());
}

function isForced(choice: ChatCompletionFields["tool_choice"]): boolean {
  return choice !== undefined && choice !== "auto" && choice !== "none";
}

export function toCompletion(
  answer: ChatAnswer,
  { model, isRefusal }: { readonly model: string; readonly isRefusal: boolean },
): object {
  return {
    id: answer.id,
    object: "chat.completion",
    created: unixSeconds(answer.created_at),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          ...(isRefusal ? { content: null, refusal: answer.content } : { content: answer.content, refusal: null }),
          ...(answer.reasoning_content === undefined ? {} : { reasoning_content: answer.reasoning_content }),
          ...(answer.reasoning === undefined ? {} : { reasoning: answer.reasoning }),
          ...(answer.tool_calls.length === 0 ? {} : { tool_calls: answer.tool_calls.map(toToolCall) }),
        },
        logprobs: null,
        finish_reason: finishReason(answer, isRefusal),
      },
    ],
    usage: toUsage(answer),
  };
}

/** The parts of a stream as chunks; `[DONE]` only after a regular end, so that a broken one cannot pass for whole. */
export function toChunks(
  parts: AsyncIterable<readonly ChatStreamPart[]>,
  errors: Omit<ErrorReplyContext, "accept">,
  { model, includeUsage }: { readonly model: string; readonly includeUsage: boolean },
): AsyncIterable<readonly ServerEvent[]> {
  let head = { id: "", object: "chat.completion.chunk", created: 0, model };
  let hasRefusal = false;
  const chunk = (delta: object, finishReason: string | null = null): ServerEvent => ({
    data: {
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(includeUsage ? { usage: null } : {}),
    },
  });
  const chunksOf = (part: ChatStreamPart): ServerEvent | readonly ServerEvent[] => {
    switch (part.kind) {
      case "started":
        head = { ...head, id: part.id, created: unixSeconds(part.createdAt) };
        return chunk({ role: "assistant", content: "", refusal: null });
      case "text":
        hasRefusal ||= part.isRefusal;
        return chunk(part.isRefusal ? { refusal: part.text } : { content: part.text });
      case "reasoning":
        return chunk({ [part.reasoning.field]: part.reasoning.text });
      case "tool_call":
        return chunk({ tool_calls: [toToolCallDelta(part.delta)] });
      case "completed":
        return [
          chunk({}, finishReason(part.answer, hasRefusal)),
          ...(includeUsage ? [{ data: { ...head, choices: [], usage: toUsage(part.answer) } }] : []),
          { data: "[DONE]" },
        ];
      case "error":
        return { data: toErrorBody(part.error, errors) };
    }
  };
  return mapAsyncIterable(parts, { each: (some) => some.flatMap(chunksOf) });
}

/** A model that refuses has ended by itself: clients read the refusal where no filter cut anything. */
function finishReason({ finish_reason: reason }: ChatAnswer, isRefusal: boolean): ChatAnswer["finish_reason"] {
  return isRefusal && reason === "content_filter" ? "stop" : reason;
}

function toToolCall({ id, name, arguments: text }: ToolCall): object {
  return { id, type: "function", function: { name, arguments: text }, ...signedExtra(id) };
}

/** Where Google's own compatible endpoint has it; the id carries it too, for clients that keep no fields they do not know. */
function signedExtra(id: string | undefined): object {
  const signature = id === undefined ? null : splitSignedId(id).signature;
  return signature === null ? {} : { extra_content: { google: { thought_signature: signature } } };
}

function toToolCallDelta(delta: Extract<ChatStreamPart, { kind: "tool_call" }>["delta"]): object {
  const { index, id, name, arguments: text } = delta;
  return {
    index,
    ...(id === undefined ? {} : { id, type: "function" }),
    function: { ...(name === undefined ? {} : { name }), arguments: text },
    ...signedExtra(id),
  };
}

/** A stream's headers were sent before its usage was known: that it is our estimate stands beside the figures. */
function toUsage({ usage, warnings }: ChatAnswer): object {
  const isEstimated = warnings.some(({ code }) => code === "USAGE_ESTIMATED");
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens, audio_tokens: 0 },
    ...(isEstimated ? { estimated: true } : {}),
  };
}

function unixSeconds(time: string): number {
  return Math.floor(Date.parse(time) / 1000);
}
