// Exit codes of the command line, one per kind of error, so that scripts can distinguish them without parsing text.
import { ERRORS, type ErrorCode } from "../contract/errors.ts";

export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  auth: 3,
  notFound: 4,
  conflict: 5,
  limit: 6,
  upstream: 7,
  job: 8,
  config: 9,
  interrupted: 130,
} as const;
type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODE_HELP = `Exit codes:
  0    done
  1    unexpected error
  2    invalid command or request
  3    the API key is missing, invalid or lacks permission
  4    not found
  5    conflict, including Idempotency-Key conflicts
  6    limit, quota or budget exceeded
  7    no gateway, database or capable provider available
  8    the job failed or was cancelled
  9    invalid configuration
  130  interrupted (Ctrl-C)`;

const BY_CODE: Readonly<Record<ErrorCode, ExitCode>> = {
  INVALID_REQUEST: EXIT.usage,
  ROUTE_CONTROL_FIELD_REJECTED: EXIT.usage,
  AUDIO_URL_REJECTED: EXIT.usage,
  MODEL_NOT_SELECTABLE: EXIT.usage,
  UNAUTHENTICATED: EXIT.auth,
  BUDGET_EXCEEDED: EXIT.limit,
  CREDITS_REQUIRED: EXIT.limit,
  FORBIDDEN: EXIT.auth,
  JOB_NOT_FOUND: EXIT.notFound,
  NOT_FOUND: EXIT.notFound,
  METHOD_NOT_ALLOWED: EXIT.usage,
  NOT_ACCEPTABLE: EXIT.usage,
  REQUEST_TIMEOUT: EXIT.upstream,
  URI_TOO_LONG: EXIT.usage,
  EXPECTATION_FAILED: EXIT.usage,
  HEADERS_TOO_LARGE: EXIT.usage,
  IDEMPOTENCY_KEY_REUSED: EXIT.conflict,
  IDEMPOTENCY_REPLAY_IN_PROGRESS: EXIT.conflict,
  IDEMPOTENT_RESULT_UNAVAILABLE: EXIT.conflict,
  MANAGED_BY_FILE: EXIT.conflict,
  CONFLICT: EXIT.conflict,
  PRECONDITION_FAILED: EXIT.conflict,
  PRECONDITION_REQUIRED: EXIT.usage,
  AUDIO_TOO_LARGE: EXIT.limit,
  BODY_TOO_LARGE: EXIT.limit,
  UNSUPPORTED_MEDIA_TYPE: EXIT.usage,
  INVALID_AUDIO: EXIT.usage,
  AUDIO_TOO_LONG: EXIT.limit,
  AUDIO_FETCH_FAILED: EXIT.upstream,
  REQUIRED_FEATURE_UNSUPPORTED: EXIT.upstream,
  RATE_LIMITED: EXIT.limit,
  CONCURRENCY_LIMITED: EXIT.limit,
  FEATURE_NOT_DELIVERED: EXIT.upstream,
  PROVIDER_REJECTED: EXIT.upstream,
  PROVIDER_RESULT_UNKNOWN: EXIT.upstream,
  audio_purpose_unavailable: EXIT.upstream,
  NO_HEALTHY_PROVIDER: EXIT.upstream,
  all_providers_exhausted: EXIT.upstream,
  OVERLOADED: EXIT.upstream,
  SHUTTING_DOWN: EXIT.upstream,
  PROVIDER_TIMEOUT: EXIT.upstream,
  INTERNAL: EXIT.unexpected,
};

/** An unknown code (from a newer gateway, or a proxy in front of it) is mapped by its status. */
export function exitCodeOf(code: string | null, status: number): ExitCode {
  if (code !== null && isErrorCode(code)) return BY_CODE[code];
  if (status === 401 || status === 403) return EXIT.auth;
  if (status === 404) return EXIT.notFound;
  if (status === 409 || status === 412) return EXIT.conflict;
  if (status === 402 || status === 413 || status === 429) return EXIT.limit;
  if (status >= 400 && status < 500) return EXIT.usage;
  return status > 500 ? EXIT.upstream : EXIT.unexpected;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
