// The catalogue of public error codes [errors.one-body]. Status, type and retryability are defined only here: docs/errors.md and /docs/errors are generated
// from it.

export const ERROR_TYPES = [
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "not_found_error",
  "idempotency_error",
  "rate_limit_error",
  "billing_error",
  "provider_error",
  "api_error",
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

interface ErrorEntry {
  readonly status: number;
  readonly type: ErrorType;
  readonly retryable: boolean;
  /** One paragraph for the docs: the cause, and what to do. */
  readonly doc: string;
}

function entry(status: number, type: ErrorType, retryable: boolean, doc: string): ErrorEntry {
  return { status, type, retryable, doc };
}

export const ERRORS = {
  INVALID_REQUEST: entry(
    400,
    "invalid_request_error",
    false,
    "A field, a header or the body is malformed, unknown or of the wrong type. `param` names the first error and `details.issues` lists all. Correct the request: repeating it unchanged returns the same answer.",
  ),
  ROUTE_CONTROL_FIELD_REJECTED: entry(
    400,
    "invalid_request_error",
    false,
    "The request names a provider or a model (`provider`, `model`, `audio.provider`, `audio.model`), but the route of the API key chooses both. Remove the field. To select a route, send a `purpose`.",
  ),
  AUDIO_URL_REJECTED: entry(
    400,
    "invalid_request_error",
    false,
    "The `audio.url` breaks a rule for remote audio. `details.reason` is `malformed`, `scheme`, `port`, `host_not_allowed`, `address_not_public`, `too_many_redirects`, `missing_content_length` or `unsupported_content_type`. Hosts are allowed per workspace (`PUT /workspace/{tenant_id}/audio-url-domains`). A name or address that is not public, in the URL or in a redirect, is `address_not_public`. Nothing was called or charged.",
  ),
  MODEL_NOT_SELECTABLE: entry(
    400,
    "invalid_request_error",
    false,
    "On the OpenAI-compatible endpoints `model` must be `auto` or `purpose/<label>`; the route of the key selects the model.",
  ),
  UNAUTHENTICATED: entry(
    401,
    "authentication_error",
    false,
    "The API key in `Authorization: Bearer …` is missing, malformed, unknown, revoked or expired. The answer is the same in all these cases.",
  ),
  BUDGET_EXCEEDED: entry(
    402,
    "billing_error",
    false,
    "This request could exceed one of the app's budgets. `details` contains the limit, the spent and reserved amounts, the amount that this request needs, and when the budget resets. Nothing was called or charged.",
  ),
  CREDITS_REQUIRED: entry(
    402,
    "billing_error",
    false,
    "The request needs a metered model, and the workspace's plan has too few credits left. Plain chat uses the plan's monthly tokens first. Tools, JSON mode, images, audio and transcription need credits, or a provider account of your own. Also returned if a workspace with a plan would need a model of a shared connection that has no price.",
  ),
  FORBIDDEN: entry(
    403,
    "permission_error",
    false,
    "The key is valid, but its role or scopes do not allow this endpoint. `details.required` names what is missing.",
  ),
  JOB_NOT_FOUND: entry(404, "not_found_error", false, "The app has no job with this id."),
  NOT_FOUND: entry(404, "not_found_error", false, "There is nothing at this path, or it belongs to another tenant."),
  METHOD_NOT_ALLOWED: entry(
    405,
    "invalid_request_error",
    false,
    "The path exists but does not support this method. The `Allow` header lists the supported ones.",
  ),
  NOT_ACCEPTABLE: entry(
    406,
    "invalid_request_error",
    false,
    "None of the media types in `Accept` is available for this request. Request `application/json`.",
  ),
  REQUEST_TIMEOUT: entry(
    408,
    "invalid_request_error",
    true,
    "The request's headers or body arrived too slowly and the connection was closed. Nothing was called or charged.",
  ),
  URI_TOO_LONG: entry(414, "invalid_request_error", false, "The request target is longer than 8 KiB."),
  EXPECTATION_FAILED: entry(417, "invalid_request_error", false, "Only `Expect: 100-continue` is supported."),
  HEADERS_TOO_LARGE: entry(431, "invalid_request_error", false, "The request's headers exceed 16 KiB or 100 fields."),
  IDEMPOTENCY_KEY_REUSED: entry(
    409,
    "idempotency_error",
    false,
    "This `Idempotency-Key` was used before with another payload or on another endpoint. Use a new key for a new request. An `audio.url` is compared as a whole: with a new signature it is another payload.",
  ),
  IDEMPOTENCY_REPLAY_IN_PROGRESS: entry(
    409,
    "idempotency_error",
    true,
    "The first request with this `Idempotency-Key` is still running. Retry after a few seconds with the same key to get its answer.",
  ),
  IDEMPOTENT_RESULT_UNAVAILABLE: entry(
    409,
    "idempotency_error",
    false,
    "The first request with this `Idempotency-Key` ended with an unknown outcome (a timeout, or a connection lost after it was sent). It is not run again under this key. To run it again send a new key; the provider may already have done the work once.",
  ),
  MANAGED_BY_FILE: entry(
    409,
    "invalid_request_error",
    false,
    "The object comes from the configuration file and is read-only here. Change it in the file.",
  ),
  CONFLICT: entry(
    409,
    "invalid_request_error",
    false,
    "The state of the object, or another object, does not allow the change. `details.reason` is `exists` (the name is taken), `not_empty` (it still contains objects), `in_use` (another object refers to it), `revoked` (the key is revoked), `not_published` (the route has no published version), `no_previous_version` (no other version of the route was published before), `another_file` (the gateway uses another configuration file) or `downloads_off` (`models.fetch` is `never`). Nothing was changed.",
  ),
  PRECONDITION_FAILED: entry(
    412,
    "invalid_request_error",
    false,
    "The object does not match `If-Match`: it was changed since it was read, or does not exist. Nothing was changed. Read it again and repeat the change if it still applies.",
  ),
  PRECONDITION_REQUIRED: entry(
    428,
    "invalid_request_error",
    false,
    "The change replaces a whole object, so it must name the state that was read: send the `ETag` of that answer as `If-Match`. Nothing was changed.",
  ),
  AUDIO_TOO_LARGE: entry(
    413,
    "invalid_request_error",
    false,
    "The audio is larger than the limit (in `/v1/melimits`: `max_audio_bytes`; for jobs `max_job_audio_bytes`, which the operator may raise to 524288000; for URLs `max_audio_url_bytes` and `max_job_audio_url_bytes`). No provider was called. For JSON with base64 the whole body counts, which is about a third more than the file: use multipart for files near the limit.",
  ),
  BODY_TOO_LARGE: entry(413, "invalid_request_error", false, "The request body is larger than this endpoint accepts."),
  UNSUPPORTED_MEDIA_TYPE: entry(
    415,
    "invalid_request_error",
    false,
    "The request's content type or encoding is not supported here, or the audio's content is not mp3, mp4, mpeg, mpga, m4a, wav or webm. File names and declared types are ignored.",
  ),
  INVALID_AUDIO: entry(
    422,
    "invalid_request_error",
    false,
    "The audio is empty, shorter than 0.1 s, truncated too much, without an audio track, or of unreadable length.",
  ),
  AUDIO_TOO_LONG: entry(
    422,
    "invalid_request_error",
    false,
    "The audio is longer than `max_audio_duration_seconds` in `/v1/melimits`.",
  ),
  AUDIO_FETCH_FAILED: entry(
    422,
    "invalid_request_error",
    false,
    "The server of `audio.url` did not deliver the audio. `details.reason` is `http_status` (with `status`), `connect`, `tls`, `timeout`, `stalled` (below 16 KiB/s for 10 s), `truncated` or `content_encoding`. Retry after `http_status` of 500 and above, `connect` and `timeout`. Nothing was called or charged.",
  ),
  REQUIRED_FEATURE_UNSUPPORTED: entry(
    422,
    "invalid_request_error",
    false,
    "The route has models for this kind of request, but none supports everything requested. `details.missing` lists the features that no target supports, and `details.candidates` what each target lacks. Nothing was called. Drop the feature, or change the key's route to include a model that supports it.",
  ),
  RATE_LIMITED: entry(
    429,
    "rate_limit_error",
    true,
    "The quota of the key or its app is used up. Retry after `Retry-After` seconds. The headers `RateLimit` and `RateLimit-Policy`, in every answer of an endpoint with quotas, report what remains.",
  ),
  CONCURRENCY_LIMITED: entry(
    429,
    "rate_limit_error",
    true,
    "The key or its app has as many concurrent requests as its quota allows. Retry when one has ended.",
  ),
  FEATURE_NOT_DELIVERED: entry(
    502,
    "provider_error",
    false,
    "A provider answered without a required feature (for example speakers, or JSON), and no other target could serve. The incomplete answer is withheld and not charged.",
  ),
  PROVIDER_REJECTED: entry(
    502,
    "provider_error",
    false,
    "Every eligible target answered that it cannot process this input. Not charged.",
  ),
  PROVIDER_RESULT_UNKNOWN: entry(
    502,
    "provider_error",
    false,
    "The connection to the provider broke after the request was sent, so its outcome is unknown. Not charged. No other provider was tried, because that could be billed twice or, in a chat stream, because its first content had already been sent.",
  ),
  audio_purpose_unavailable: entry(
    503,
    "invalid_request_error",
    false,
    "The purpose is unknown, disabled or has no audio model, and the strict policy forbids a fallback. See `purposes` in `GET /v1/me`.",
  ),
  NO_HEALTHY_PROVIDER: entry(
    503,
    "provider_error",
    false,
    "The route has no model for this request (`details.reason` `no_audio_model` or `no_chat_model`), or all of them are failing, unavailable or paused manually (`unhealthy`, `exhausted`; only these two are worth a retry). `details.paused_until`, present if one was paused, is when the first pause ends, unless it is resumed earlier.",
  ),
  all_providers_exhausted: entry(
    503,
    "provider_error",
    true,
    "Every eligible chat target failed, is unavailable after repeated failures, or is paused manually (`details.paused_until`: when the first pause ends, unless it is resumed earlier).",
  ),
  OVERLOADED: entry(
    503,
    "api_error",
    true,
    "The gateway is at capacity, or its database is unavailable: unreachable, starting, stopping, read-only, or out of disk space. Retry after `Retry-After` seconds, with the same `Idempotency-Key` if there was one. `retryable: false`: the database failed before it confirmed a change that was sent without a key, so the change may have been made.",
  ),
  SHUTTING_DOWN: entry(503, "api_error", true, "This process is shutting down. Retry: another process will answer."),
  PROVIDER_TIMEOUT: entry(
    504,
    "provider_error",
    false,
    "The deadline passed after the request was sent to a provider, so its outcome is unknown. Not charged, and no other provider was tried. For long recordings use a job.",
  ),
  INTERNAL: entry(
    500,
    "api_error",
    false,
    "An internal error of the gateway. Report it with the request id. A job ends with it if the gateway could not read its recording back from its store: `details.reason` is `recording_missing`, `recording_damaged` (the bytes differ from those submitted) or `recording_unreadable` (the store did not return it until the job's deadline). Such a job is not charged, no other provider was tried, and it may be submitted again.",
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Machine-readable facts in addition to the message; JSON values only. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface GatewayErrorOptions {
  readonly message: string;
  readonly param?: string | undefined;
  readonly details?: ErrorDetails | undefined;
  /** Overrides the catalogue if the contract makes it depend on the case (for example `NO_HEALTHY_PROVIDER`). */
  readonly retryable?: boolean | undefined;
  /** Seconds for `Retry-After`; only with a retryable error. */
  readonly retryAfterSeconds?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
}

/** A refusal or failure as the caller sees it. `message` is public: it must contain no secret, transcript, stack trace or provider text. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly details: ErrorDetails | null;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: GatewayErrorOptions) {
    super(options.message, { cause: options.cause });
    this.name = "GatewayError";
    this.code = code;
    this.param = options.param ?? null;
    this.details = options.details ?? null;
    this.retryable = options.retryable ?? ERRORS[code].retryable;
    this.retryAfterSeconds = this.retryable ? (options.retryAfterSeconds ?? 2) : null;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
