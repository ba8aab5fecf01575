// The catalogue of public error codes [errors.one-body]. Status, type and retryability are defined only here, and the texts of docs/errors.md and /docs/errors
// in error-stories.ts.

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
}

function entry(status: number, type: ErrorType, retryable: boolean): ErrorEntry {
  return { status, type, retryable };
}

export const ERRORS = {
  INVALID_REQUEST: entry(400, "invalid_request_error", false),
  ROUTE_CONTROL_FIELD_REJECTED: entry(400, "invalid_request_error", false),
  AUDIO_URL_REJECTED: entry(400, "invalid_request_error", false),
  MODEL_NOT_SELECTABLE: entry(400, "invalid_request_error", false),
  UNAUTHENTICATED: entry(401, "authentication_error", false),
  BUDGET_EXCEEDED: entry(402, "billing_error", false),
  CREDITS_REQUIRED: entry(402, "billing_error", false),
  FORBIDDEN: entry(403, "permission_error", false),
  JOB_NOT_FOUND: entry(404, "not_found_error", false),
  NOT_FOUND: entry(404, "not_found_error", false),
  METHOD_NOT_ALLOWED: entry(405, "invalid_request_error", false),
  NOT_ACCEPTABLE: entry(406, "invalid_request_error", false),
  REQUEST_TIMEOUT: entry(408, "invalid_request_error", true),
  URI_TOO_LONG: entry(414, "invalid_request_error", false),
  EXPECTATION_FAILED: entry(417, "invalid_request_error", false),
  HEADERS_TOO_LARGE: entry(431, "invalid_request_error", false),
  IDEMPOTENCY_KEY_REUSED: entry(409, "idempotency_error", false),
  IDEMPOTENCY_REPLAY_IN_PROGRESS: entry(409, "idempotency_error", true),
  IDEMPOTENT_RESULT_UNAVAILABLE: entry(409, "idempotency_error", false),
  MANAGED_BY_FILE: entry(409, "invalid_request_error", false),
  CONFLICT: entry(409, "invalid_request_error", false),
  PRECONDITION_FAILED: entry(412, "invalid_request_error", false),
  PRECONDITION_REQUIRED: entry(428, "invalid_request_error", false),
  AUDIO_TOO_LARGE: entry(413, "invalid_request_error", false),
  BODY_TOO_LARGE: entry(413, "invalid_request_error", false),
  UNSUPPORTED_MEDIA_TYPE: entry(415, "invalid_request_error", false),
  INVALID_AUDIO: entry(422, "invalid_request_error", false),
  AUDIO_TOO_LONG: entry(422, "invalid_request_error", false),
  AUDIO_FETCH_FAILED: entry(422, "invalid_request_error", false),
  REQUIRED_FEATURE_UNSUPPORTED: entry(422, "invalid_request_error", false),
  RATE_LIMITED: entry(429, "rate_limit_error", true),
  CONCURRENCY_LIMITED: entry(429, "rate_limit_error", true),
  FEATURE_NOT_DELIVERED: entry(502, "provider_error", false),
  PROVIDER_REJECTED: entry(502, "provider_error", false),
  PROVIDER_RESULT_UNKNOWN: entry(502, "provider_error", false),
  audio_purpose_unavailable: entry(503, "invalid_request_error", false),
  NO_HEALTHY_PROVIDER: entry(503, "provider_error", false),
  all_providers_exhausted: entry(503, "provider_error", true),
  OVERLOADED: entry(503, "api_error", true),
  SHUTTING_DOWN: entry(503, "api_error", true),
  PROVIDER_TIMEOUT: entry(504, "provider_error", false),
  INTERNAL: entry(500, "api_error", false),
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
