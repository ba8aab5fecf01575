// Translates OpenAI's chat completion requests and responses to and from this API's. Pure [compatible.completion].
import { splitSignedId } from "../../contract/chat/tool-call-signature.ts";
import { type ToolCall } from "../../contract/chat/chat-parts.ts";
import { type ChatAnswer } from "../../contract/chat/chat-answer.ts";
import { type ChatFields } from "../../contract/chat/chat-request.ts";
import { chatFieldsOfClients } from "../../contract/chat/checked-chat-fields.ts";
import type { ChatCompletionFields } from "../../contract/chat/openai-compatible.ts";
import type { ChatStreamPart } from "../../gateway/chat/chat-call.ts";
import { mapAsyncIterable } from "../../lib/concurrency/map-async-iterable.ts";
import { type ErrorReplyContext, toErrorBody } from "../reply/error-reply.ts";
import type { ServerEvent } from "../reply/sse.ts";
import { createFaults } from "../body/validation-issues.ts";
import { judgedFields } from "../body/fields.ts";
import { toMessages } from "./completion-message.ts";
import { purposeOfModel } from "./model-purpose.ts";

/** Converts to the fields of `POST /v1/chat` and validates them with the same schema. */
export function toChatFields(input: ChatCompletionFields): ChatFields {
  const { max_tokens, max_completion_tokens, tools, messages, model } = input;
  const { temperature, top_p, seed, stop, stream, tool_choice, parallel_tool_calls, response_format } = input;
  const { reasoning_effort, verbosity, data_policy } = input;
  // Clients send an empty list to mean none.
  const hasTools = tools !== undefined && tools.length > 0;
  const values = {
    messages: toMessages(messages),
    max_tokens: max_completion_tokens ?? max_tokens,
    temperature,
    top_p,
    seed,
    stop,
    stream,
    // Without tools, `auto` and `none` have no effect. A required call is kept, and refused.
    ...(hasTools ? { tools, parallel_tool_calls } : {}),
    ...(hasTools || isForced(tool_choice) ? { tool_choice } : {}),
    response_format,
    reasoning_effort,
    verbosity,
    data_policy,
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

/** Converts the parts of a stream to chunks. `[DONE]` is only sent after a regular end, so that a truncated stream is recognisable. */
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
  return mapAsyncIterable(parts, { each: (batch) => batch.flatMap(chunksOf) });
}

/** A refusing model has finished by itself, and clients read the refusal. `content_filter` would mean that a filter truncated the answer. */
function finishReason({ finish_reason: reason }: ChatAnswer, isRefusal: boolean): ChatAnswer["finish_reason"] {
  return isRefusal && reason === "content_filter" ? "stop" : reason;
}

function toToolCall({ id, name, arguments: text }: ToolCall): object {
  return { id, type: "function", function: { name, arguments: text }, ...signedExtra(id) };
}

/** In the same place as in Google's own compatible endpoint. The id contains the signature too, for clients that drop unknown fields. */
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

/** A stream's headers are sent before its usage is known, so an estimate is marked next to the figures. */
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
