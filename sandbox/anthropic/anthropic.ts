// Simulates Anthropic's `POST /v1/messages`: a buffered answer, or named events [providers.sandbox-protocols].
import { randomUUID } from "node:crypto";
import { judgeAnthropic, type AnthropicChat } from "./anthropic-rules.ts";
import { inPieces, type SimulatedChat, simulateChat } from "../chat-simulate.ts";
import { isRetired } from "../retired-models.ts";
import {
  type Alteration,
  type EventBody,
  jsonAnswer,
  modelInBody,
  type Wire,
  type WireAnswer,
  type WireInput,
} from "../wire/wire.ts";

const MAX_BODY_BYTES = 33_554_432;

export const anthropicWire: Wire = {
  name: "anthropic",
  body: "json",
  modelOf: ({ json }) => modelInBody(json),
  maxBodyBytes: MAX_BODY_BYTES,
  errorFor: anthropicErrorForStatus,
  answer: async (input, alteration) => answer(input, alteration),
};

const ERROR_TYPES: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ["invalid_request_error", "Your request could not be processed."],
  401: ["authentication_error", "invalid x-api-key"],
  402: ["billing_error", "Your account is past due."],
  403: ["permission_error", "Your API key does not have permission to use the specified resource."],
  404: ["not_found_error", "Not found"],
  409: ["conflict_error", "The request conflicts with another one."],
  413: ["request_too_large", "Request exceeds the maximum size"],
  429: ["rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit."],
  500: ["api_error", "Internal server error"],
  504: ["timeout_error", "The request timed out while processing."],
  529: ["overloaded_error", "Overloaded"],
};

function anthropicErrorForStatus(status: number, requestId: string): WireAnswer {
  const [type, message] = ERROR_TYPES[status] ?? ERROR_TYPES[status >= 500 ? 500 : 400] ?? ["api_error", "Error"];
  return anthropicError(status, type, message, requestId);
}

export const headersOf = (requestId: string): Record<string, string> => ({
  "request-id": `req_${requestId.replaceAll("-", "")}`,
  "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
  "anthropic-ratelimit-requests-limit": "1000",
  "anthropic-ratelimit-requests-remaining": "999",
});

function anthropicError(status: number, type: string, message: string, requestId: string): WireAnswer {
  const headers = headersOf(requestId);
  return jsonAnswer(status, { type: "error", error: { type, message }, request_id: headers["request-id"] }, headers);
}

function refusal(requestId: string, status: number, message?: string): WireAnswer {
  const [type, usual] = ERROR_TYPES[status] ?? ["api_error", "Error"];
  return anthropicError(status, type, message ?? usual, requestId);
}

type Version = "2023-06-01" | "2026-10-21";
type JudgedHead =
  | { readonly ok: true; readonly version: Version }
  | { readonly ok: false; readonly refusal: WireAnswer };

/** Validates key and version, as on every endpoint. */
export function judgeAnthropicHead({ headers, requestId }: Pick<WireInput, "headers" | "requestId">): JudgedHead {
  const refuse = (status: number, message: string): JudgedHead => ({
    ok: false,
    refusal: refusal(requestId, status, message),
  });
  const keyFault = findWrongKey(headers["x-api-key"], headers.authorization);
  if (keyFault !== null) return refuse(401, keyFault);
  const version = headers["anthropic-version"];
  if (typeof version !== "string") return refuse(400, "anthropic-version: header is required");
  if (version === "2023-06-01" || version === "2026-10-21") return { ok: true, version };
  return refuse(400, `anthropic-version: "${version}" is not a valid version`);
}

function answer(input: WireInput, alteration: Alteration): WireAnswer {
  const { json, requestId, defect } = input;
  const refuse = (status: number, message?: string): WireAnswer => refusal(requestId, status, message);
  const head = judgeAnthropicHead(input);
  if (!head.ok) return head.refusal;
  if (defect === "too_large") return refuse(413);
  if (json === undefined) return refuse(400, "The request body is not valid JSON");
  const verdict = judgeAnthropic(json, head.version);
  if (!verdict.ok) return refuse(400, verdict.message);
  const { model } = verdict.chat;
  if (!model.startsWith("claude-") || isRetired("anthropic", model, input.nowMs)) return refuse(404, `model: ${model}`);
  const simulated = simulateChat(verdict.asked, alteration);
  const chat = { ...verdict.chat, model: alteration.otherModel ?? model };
  return chat.stream === true
    ? streamed(chat, simulated, requestId)
    : jsonAnswer(200, buildMessage(chat, simulated), headersOf(requestId));
}

/** If both are present, `x-api-key` counts. */
function findWrongKey(key: string | string[] | undefined, authorization: string | undefined): string | null {
  const token = typeof key === "string" ? key : /^Bearer (\S+)$/iu.exec(authorization ?? "")?.[1];
  if (token === undefined || token === "") return "x-api-key header is required";
  return token === "invalid" ? "invalid x-api-key" : null;
}

const STOP = { stop: "end_turn", length: "max_tokens", calls: "tool_use", withheld: "refusal" } as const;

const stopOf = ({ finish, stopSequence }: SimulatedChat) => ({
  stop_reason: stopSequence === null ? STOP[finish] : "stop_sequence",
  stop_sequence: stopSequence,
});

const headOf = (chat: AnthropicChat) => ({
  id: `msg_${randomUUID().replaceAll("-", "")}`,
  type: "message",
  role: "assistant",
  model: chat.model,
});

const inputOf = ({ usage }: SimulatedChat) => ({
  input_tokens: usage?.input ?? 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
});

const newCallId = (): string => `toolu_${randomUUID().replaceAll("-", "")}`;

function buildMessage(chat: AnthropicChat, simulated: SimulatedChat): object {
  const text = simulated.pieces.join("");
  return {
    ...headOf(chat),
    content: [
      ...(text === "" ? [] : [{ type: "text", text, citations: null }]),
      ...simulated.calls.map(({ name, args }) => ({ type: "tool_use", id: newCallId(), name, input: args })),
    ],
    ...stopOf(simulated),
    ...(simulated.usage === null
      ? {}
      : { usage: { ...inputOf(simulated), output_tokens: simulated.usage.output, service_tier: "standard" } }),
  };
}

const event = (type: string, body: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;

function streamed(chat: AnthropicChat, simulated: SimulatedChat, requestId: string): WireAnswer {
  const { usage } = simulated;
  const hasText = simulated.pieces.length > 0;
  const delta = (index: number, body: object): string => event("content_block_delta", { index, delta: body });
  const text = simulated.pieces.map((piece) => delta(0, { type: "text_delta", text: piece }));
  const calls = simulated.calls.flatMap(({ name, args }, at) => {
    const index = at + (hasText ? 1 : 0);
    const json = JSON.stringify(args);
    return [
      event("content_block_start", { index, content_block: { type: "tool_use", id: newCallId(), name, input: {} } }),
      // A call without arguments has no argument pieces.
      ...(json === "{}"
        ? []
        : inPieces(json).map((partial_json) => delta(index, { type: "input_json_delta", partial_json }))),
      event("content_block_stop", { index }),
    ];
  });
  const body: EventBody = {
    head: [
      event("message_start", {
        message: {
          ...headOf(chat),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          ...(usage === null ? {} : { usage: { ...inputOf(simulated), output_tokens: Math.min(1, usage.output) } }),
        },
      }),
      ...(hasText ? [event("content_block_start", { index: 0, content_block: { type: "text", text: "" } })] : []),
      event("ping"),
    ],
    contents: [...text, ...(hasText ? [event("content_block_stop", { index: 0 })] : []), ...calls],
    end: [
      event("message_delta", {
        delta: stopOf(simulated),
        ...(usage === null ? {} : { usage: { output_tokens: usage.output } }),
      }),
      event("message_stop"),
    ],
    failure: event("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
  };
  return {
    status: 200,
    headers: { ...headersOf(requestId), "content-type": "text/event-stream; charset=utf-8" },
    body,
  };
}
