// Decides what a failed attempt means for the rest of the request [routing.fallback-definite] [routing.no-fallback-unknown]. Pure.
import { GatewayError } from "../../contract/errors.ts";
import type { FailureKind, ProviderError } from "../../providers/io.ts";
import type { Candidate, Missing } from "../../routing/pick-candidates.ts";
import type { Target } from "../../routing/types.ts";

/** `definite`: the next target may be tried. `unknown`: the call may have been done and charged. `aborted`: the caller disconnected. */
export type Certainty = "definite" | "unknown" | "aborted";

export function certaintyOf(kind: FailureKind): Certainty {
  switch (kind) {
    case "unknown":
    case "timeout":
      return "unknown";
    case "aborted":
      return "aborted";
    case "connect":
    case "rejected":
    case "unauthorized":
    case "payment":
    case "not_found":
    case "rate_limited":
    case "server_error":
    case "bad_reply":
    case "feature_dropped":
      return "definite";
  }
}

export interface FailedAttempt {
  readonly position: number;
  readonly kind: FailureKind;
  readonly retryAfterSeconds: number | null;
}

export function failedAttempt(
  { position }: Pick<Target, "position">,
  { kind, retryAfterSeconds }: Pick<ProviderError, "kind" | "retryAfterSeconds">,
): FailedAttempt {
  return { position, kind, retryAfterSeconds };
}

/** Every target that was judged, including those that are unavailable or not eligible. */
type Considered = readonly Pick<Candidate<Missing>, "target" | "verdict">[];

/**
 * The error when every eligible target that could be tried failed definitely. `attemptLimit`: the limit per request, if it prevented further targets from being
 * called.
 */
export function exhaustedError(
  failures: readonly FailedAttempt[],
  considered: Considered,
  attemptLimit: number | null = null,
): GatewayError {
  const attempts = failures.map(attemptDetail);
  if (failures.some(isDropped)) return featureNotDelivered(attempts);
  if (allRejected(failures, considered)) return rejected("this audio", attempts);
  return new GatewayError("NO_HEALTHY_PROVIDER", {
    message: exhaustedMessage(attemptLimit),
    details: { reason: "exhausted", attempts, ...limitDetail(attemptLimit) },
    retryable: true,
    retryAfterSeconds: longestWait(failures),
  });
}

function exhaustedMessage(attemptLimit: number | null): string {
  const what =
    attemptLimit === null
      ? "Every eligible target of the route failed or is unavailable."
      : `${attemptLimit} targets of the route failed, the maximum for one request.`;
  return `${what} Nothing was charged. Retry later.`;
}

function limitDetail(attemptLimit: number | null): { readonly max_attempts_per_request?: number } {
  return attemptLimit === null ? {} : { max_attempts_per_request: attemptLimit };
}

function attemptDetail({ position, kind }: FailedAttempt): object {
  return { position, reason: kind };
}

function isDropped({ kind }: FailedAttempt): boolean {
  return kind === "feature_dropped";
}

/** Requires that every eligible target was called: one that is unavailable might accept the input later. */
function allRejected(failures: readonly FailedAttempt[], considered: Considered): boolean {
  const calledPositions = new Set(failures.map(({ position }) => position));
  const eligible = considered.filter(({ verdict }) => verdict.missing.length === 0);
  return (
    failures.length > 0 &&
    failures.every(({ kind }) => kind === "rejected") &&
    eligible.every(({ target }) => calledPositions.has(target.position))
  );
}

function rejected(what: string, attempts: readonly object[]): GatewayError {
  return new GatewayError("PROVIDER_REJECTED", {
    message: `Every eligible target answered that it cannot process ${what} with these options.`,
    details: { attempts },
  });
}

function featureNotDelivered(attempts: readonly object[]): GatewayError {
  return new GatewayError("FEATURE_NOT_DELIVERED", {
    message:
      "A provider answered without a requested feature, and no other target could serve the request. The incomplete answer was withheld.",
    details: { attempts },
  });
}

/** The error when every eligible chat target was tried and failed [chat.exhausted]. `keyBurned`: one outcome is unknown, so the idempotency key is burned. */
export function chatExhausted(
  failures: readonly FailedAttempt[],
  considered: Considered,
  { keyBurned, attemptLimit }: { readonly keyBurned: boolean; readonly attemptLimit: number | null },
): GatewayError {
  const attempts = failures.map(attemptDetail);
  if (failures.some(isDropped) && !keyBurned) return featureNotDelivered(attempts);
  if (allRejected(failures, considered)) return rejected("these messages", attempts);
  return new GatewayError("all_providers_exhausted", {
    message: keyBurned
      ? `${attemptLimit === null ? "All eligible targets" : `${attemptLimit} targets`} of the route failed, one of them with an unknown outcome. The Idempotency-Key cannot be used again.`
      : exhaustedMessage(attemptLimit),
    details: { reason: "exhausted", attempts, ...limitDetail(attemptLimit) },
    retryable: !keyBurned,
    retryAfterSeconds: longestWait(failures),
  });
}

/** The error that ends a stream which broke after its first content: nothing is retried, and no other model continues it. `charge` states what is charged. */
export function streamBroke(kind: FailureKind, charge = "What was sent is not charged."): GatewayError {
  if (kind === "feature_dropped")
    return new GatewayError("FEATURE_NOT_DELIVERED", {
      message: `The complete answer lacks a requested feature. ${charge}`,
    });
  return kind === "timeout"
    ? new GatewayError("PROVIDER_TIMEOUT", {
        message: `The provider stopped sending before the end of its answer. ${charge}`,
      })
    : new GatewayError("PROVIDER_RESULT_UNKNOWN", {
        message: `The provider's stream broke before the end of its answer. ${charge}`,
      });
}

function longestWait(failures: readonly FailedAttempt[]): number {
  const waits = failures.flatMap((failure) => (failure.retryAfterSeconds === null ? [] : [failure.retryAfterSeconds]));
  return Math.min(60, Math.max(2, ...waits));
}

/** Advice for callers that send a recording and wait for the answer. */
export const USE_A_JOB = "For long recordings use POST /v1/transcription/jobs.";

interface AfterUnknown {
  /** How the caller can avoid the timeout. */
  readonly advice?: string;
  /** Other targets were tried after it and failed. */
  readonly wasFollowed?: boolean;
}

/** The error after an unknown outcome. */
export function outcomeUnknown(
  kind: "unknown" | "timeout",
  { advice, wasFollowed = false }: AfterUnknown = {},
): GatewayError {
  const explanation = `Whether it did the work is unknown; nothing was charged and ${wasFollowed ? "the calls after it failed" : "no other provider was tried"}.`;
  return kind === "timeout"
    ? new GatewayError("PROVIDER_TIMEOUT", {
        message: `The provider did not answer before the deadline. ${explanation}${advice === undefined ? "" : ` ${advice}`}`,
      })
    : new GatewayError("PROVIDER_RESULT_UNKNOWN", {
        message: `After the request was sent the connection to the provider broke, or the answer was 408, 499, 502 or 504. ${explanation}`,
      });
}
