// What audio and chat say alike about an attempt that ended: its outcome on record, its line in the log, the caller's leaving.
import { GatewayError } from "../../contract/errors.ts";
import type { AttemptId, RequestId } from "../../contract/ids.ts";
import type { AttemptOutcome } from "../../metering/ledger-entries.ts";
import type { FailureKind, ProviderError } from "../../providers/io.ts";
import type { Target } from "../../routing/types.ts";
import { certaintyOf } from "./judge-failure.ts";
import type { GatewayServices } from "../services.ts";

export function attemptOutcome(kind: FailureKind): AttemptOutcome {
  const certainty = certaintyOf(kind);
  return certainty === "definite" ? `failed:${kind}` : certainty;
}

/** Kinds, codes and names; nothing that a caller or a provider wrote. */
export function logFailedAttempt(
  services: Pick<GatewayServices, "logger">,
  call: { readonly requestId: RequestId },
  attempt: { readonly attemptId: AttemptId; readonly target: Target; readonly error: ProviderError },
): void {
  const { attemptId, target, error } = attempt;
  services.logger.warn({
    request_id: call.requestId,
    attempt_id: attemptId,
    connection: target.connection,
    provider: target.provider,
    model: target.model,
    failure: error.kind,
    provider_status: error.status,
    reason: error.reason,
  });
}

/** Nobody reads this answer; the edge notices that the caller is gone. */
export function callerGone(): GatewayError {
  return new GatewayError("REQUEST_TIMEOUT", { message: "The caller hung up and the work was stopped." });
}

/** Why a call was aborted: the revoked authorization where that is the signal's reason, else the caller hung up. */
export function abortedBy(signal: AbortSignal): GatewayError {
  return revocationOf(signal) ?? callerGone();
}

/** The error that ends the response where it is not the caller who left; null: no one reads it. */
export function revocationOf({ reason }: AbortSignal): GatewayError | null {
  return reason instanceof GatewayError ? reason : null;
}

/** With less than this left no other target is asked: it could not answer, and would be held to have failed. */
export const LEAST_FOR_ANOTHER_MS = 100;

/** Of the request's own deadline, counted from its first byte. */
export function remainingMs(
  services: Pick<GatewayServices, "limits" | "now">,
  call: { readonly receivedAtMs: number },
): number {
  return Math.max(1, call.receivedAtMs + services.limits.syncTimeoutSeconds * 1000 - services.now().getTime());
}
