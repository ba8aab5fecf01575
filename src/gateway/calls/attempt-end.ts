// What audio and chat share about the end of an attempt: its recorded outcome, its log line, and the error for a caller that disconnected.
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

/** Logs kinds, codes and names only, no text of a caller or a provider. */
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

/** The response is never read, because the caller disconnected. */
export function callerGone(): GatewayError {
  return new GatewayError("REQUEST_TIMEOUT", { message: "The caller disconnected, and the work was stopped." });
}

/** Why a call was aborted: the revoked authorization if that is the signal's reason, otherwise the caller hung up. */
export function abortedBy(signal: AbortSignal): GatewayError {
  return revocationOf(signal) ?? callerGone();
}

/** The error that ends the response if the authorization was revoked. Null: the caller hung up and no error is sent. */
export function revocationOf({ reason }: AbortSignal): GatewayError | null {
  return reason instanceof GatewayError ? reason : null;
}
