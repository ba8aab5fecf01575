// Declares the endpoint POST /v1/chat: its body, headers, responses and error codes.
import { z } from "zod";
import { chatAnswer } from "../chat/chat-answer.ts";
import { chatFields } from "../chat/checked-chat-fields.ts";
import type { EndpointContract } from "./endpoint.ts";
import { routedHeaders } from "./endpoint-transcription.ts";
import { REPLAYED, SIMULATED } from "./response-names.ts";
import { routingDecision } from "../transcription/transcription-envelope.ts";
import type { ErrorCode } from "../errors.ts";

/** Errors of a chat request on any endpoint. */
export const CHAT_ERRORS = [
  "BUDGET_EXCEEDED",
  "CREDITS_REQUIRED",
  "IDEMPOTENCY_KEY_REUSED",
  "IDEMPOTENCY_REPLAY_IN_PROGRESS",
  "IDEMPOTENT_RESULT_UNAVAILABLE",
  "BODY_TOO_LARGE",
  "REQUIRED_FEATURE_UNSUPPORTED",
  "RATE_LIMITED",
  "CONCURRENCY_LIMITED",
  "FEATURE_NOT_DELIVERED",
  "PROVIDER_REJECTED",
  "PROVIDER_RESULT_UNKNOWN",
  "NO_HEALTHY_PROVIDER",
  "all_providers_exhausted",
  "OVERLOADED",
  "SHUTTING_DOWN",
  "PROVIDER_TIMEOUT",
] as const satisfies readonly ErrorCode[];

export const chatOrDecision = z.union([chatAnswer, routingDecision]);

export const postChatContract: EndpointContract = {
  method: "POST",
  path: "/v1/chat",
  operationId: "createChat",
  summary: "Answer a conversation",
  description:
    "Routes the messages to a chat model of the key's route that supports everything requested, or refuses. With `stream: true` the answer is an event stream: `chat.started`, `chat.delta`, `chat.tool_call.delta`, then `chat.completed` with the whole answer. A stream that breaks after its first content ends with one `error` event instead.",
  auth: "key",
  scope: "chat",
  isRouted: true,
  requestBody: { json: chatFields },
  headers: routedHeaders,
  responses: {
    200: {
      description: "The answer, its event stream, or with `dry_run` the routing decision.",
      content: { "application/json": chatOrDecision, "text/event-stream": z.string() },
      headers: { ...REPLAYED, ...SIMULATED },
    },
  },
  errors: ["ROUTE_CONTROL_FIELD_REJECTED", ...CHAT_ERRORS],
};
