// Decides what a failed attempt means for the rest of the request: a definite failure lets the next target be tried [routing.fallback-definite], an unknown
// outcome does not, because it may be paid for [routing.no-fallback-unknown]. Pure.
import { GatewayError } from "../../contract/errors.ts";
import type { FailureKind, ProviderError } from "../../providers/io.ts";
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
    case "overloaded":
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
