// The names of error responses, and the headers, that several operations of the OpenAPI documents share [api.openapi-components].
import type { ErrorCode } from "../errors.ts";

/** Error responses with several codes. A response with one code is named after the code; an unlisted combination is written into its operation. */
export const RESPONSE_NAMES: Readonly<Record<string, readonly ErrorCode[]>> = {
  AudioRequestRejected: ["INVALID_REQUEST", "ROUTE_CONTROL_FIELD_REJECTED", "AUDIO_URL_REJECTED"],
  AudioUnprocessable: ["AUDIO_FETCH_FAILED", "INVALID_AUDIO", "AUDIO_TOO_LONG", "REQUIRED_FEATURE_UNSUPPORTED"],
  BadGateway: ["FEATURE_NOT_DELIVERED", "PROVIDER_REJECTED", "PROVIDER_RESULT_UNKNOWN"],
  ChangeConflict: ["MANAGED_BY_FILE", "CONFLICT"],
  ChatUnavailable: ["OVERLOADED", "NO_HEALTHY_PROVIDER", "all_providers_exhausted", "SHUTTING_DOWN"],
  CompatibleAudioRequestRejected: [
    "INVALID_REQUEST",
    "MODEL_NOT_SELECTABLE",
    "ROUTE_CONTROL_FIELD_REJECTED",
    "AUDIO_URL_REJECTED",
  ],
  ContentTooLarge: ["AUDIO_TOO_LARGE", "BODY_TOO_LARGE"],
  IdempotencyConflict: ["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_REPLAY_IN_PROGRESS", "IDEMPOTENT_RESULT_UNAVAILABLE"],
  PaymentRequired: ["BUDGET_EXCEEDED", "CREDITS_REQUIRED"],
  RequestRejected: ["INVALID_REQUEST", "ROUTE_CONTROL_FIELD_REJECTED"],
  TooManyRequests: ["RATE_LIMITED", "CONCURRENCY_LIMITED"],
  TranscriptionUnavailable: ["OVERLOADED", "audio_purpose_unavailable", "NO_HEALTHY_PROVIDER", "SHUTTING_DOWN"],
  TranslationUnavailable: [
    "OVERLOADED",
    "audio_purpose_unavailable",
    "NO_HEALTHY_PROVIDER",
    "SHUTTING_DOWN",
    "all_providers_exhausted",
  ],
};

export const ETAG = { ETag: "Version of the object; send it as `If-Match` with a change." } as const;
export const LOCATION = { Location: "Where to poll." } as const;
export const REPLAYED = { "X-SVC-Idempotent-Replay": "`true` on a replayed answer." } as const;
export const SIMULATED = { "X-SVC-Simulated": "`true` if the sandbox answered." } as const;

/** Response headers with their descriptions, by name. */
export const SHARED_HEADERS: Readonly<Record<string, string>> = { ...ETAG, ...LOCATION, ...REPLAYED, ...SIMULATED };
