// Creates the error of a request after all eligible targets were tried and failed [routing.exhausted]: NO_HEALTHY_PROVIDER, PROVIDER_REJECTED or
// FEATURE_NOT_DELIVERED, and for chat `all_providers_exhausted`.
import { GatewayError } from "../../contract/errors.ts";
import type { Candidate, Missing } from "../../routing/pick-candidates.ts";
import type { FailedAttempt } from "./judge-failure.ts";

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
  if (failures.length > 0 && failures.every(({ kind }) => kind === "overloaded")) return overloaded(failures, attempts);
  return new GatewayError("NO_HEALTHY_PROVIDER", {
    message: exhaustedMessage(attemptLimit),
    details: { reason: "exhausted", attempts, ...limitDetail(attemptLimit) },
    retryable: true,
    retryAfterSeconds: longestWait(failures),
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

/** Every target that was judged, including those that are unavailable or not eligible. */
export type Considered = readonly Pick<Candidate<Missing>, "target" | "verdict">[];

export function exhaustedMessage(attemptLimit: number | null): string {
  const what =
    attemptLimit === null
      ? "Every eligible target of the route failed or is unavailable."
      : `${attemptLimit} targets of the route failed, the maximum for one request.`;
  return `${what} Nothing was charged. Retry later.`;
}

export function limitDetail(attemptLimit: number | null): { readonly max_attempts_per_request?: number } {
  return attemptLimit === null ? {} : { max_attempts_per_request: attemptLimit };
}

export function attemptDetail({ position, kind }: FailedAttempt): object {
  return { position, reason: kind };
}

export function isDropped({ kind }: FailedAttempt): boolean {
  return kind === "feature_dropped";
}

/** Requires that every eligible target was called: one that is unavailable might accept the input later. */
export function allRejected(failures: readonly FailedAttempt[], considered: Considered): boolean {
  const calledPositions = new Set(failures.map(({ position }) => position));
  const eligible = considered.filter(({ verdict }) => verdict.missing.length === 0);
  return (
    failures.length > 0 &&
    failures.every(({ kind }) => kind === "rejected") &&
    eligible.every(({ target }) => calledPositions.has(target.position))
  );
}

/** A queue of hours is drained in minutes, and its measured speed says in how many. */
const MOST_QUEUE_WAIT_SECONDS = 600;

/** Models on this machine have no room, and no other target is left. */
function overloaded(failures: readonly FailedAttempt[], attempts: readonly object[]): GatewayError {
  const waits = failures.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 1);
  return new GatewayError("OVERLOADED", {
    message: "The models on this machine have no room for more audio at the moment. Nothing was charged. Retry later.",
    details: { reason: "local_queue_full", attempts },
    retryAfterSeconds: Math.min(MOST_QUEUE_WAIT_SECONDS, Math.max(1, ...waits)),
  });
}

export function rejected(what: string, attempts: readonly object[]): GatewayError {
  return new GatewayError("PROVIDER_REJECTED", {
    message: `Every eligible target answered that it cannot process ${what} with these options.`,
    details: { attempts },
  });
}

export function featureNotDelivered(attempts: readonly object[]): GatewayError {
  return new GatewayError("FEATURE_NOT_DELIVERED", {
    message:
      "A provider answered without a requested feature, and no other target could serve the request. The incomplete answer was withheld.",
    details: { attempts },
  });
}

export function longestWait(failures: readonly FailedAttempt[]): number {
  const waits = failures.flatMap((failure) => (failure.retryAfterSeconds === null ? [] : [failure.retryAfterSeconds]));
  return Math.min(60, Math.max(2, ...waits));
}
