// Tries the capable targets in order until one serves (spec 1.6, contract 1 "Definite and unknown outcomes"). Every call is
// reserved durably before its first byte leaves and settled durably after; after an unknown outcome nothing else is tried.
import { GatewayError } from "../contract/errors.ts";
import { type AttemptId, newId } from "../contract/ids.ts";
import type { Preference } from "../contract/features.ts";
import type { AttemptOutcome } from "../metering/ledger.ts";
import type { FailureKind, ProviderError } from "../providers/io.ts";
import type { ProviderTranscript, SpeechAudio } from "../providers/provider.ts";
import type { RouteDecision } from "../routing/decide-route.ts";
import type { Candidate } from "../routing/pick-candidates.ts";
import { callTarget } from "./attempt.ts";
import { budgetExceeded } from "./budget-exceeded.ts";
import { certaintyOf, exhausted, type FailedAttempt, outcomeUnknown } from "./judge-failure.ts";
import { type Billing, quoteFor } from "./quote.ts";
import type { GatewayReply } from "./reply.ts";
import { circuitOf, resolveAccount } from "./resolve-account.ts";
import type { GatewayServices } from "./services.ts";
import { speechRequest } from "./speech-request.ts";
import type { TranscribeCall } from "./transcribe.ts";
import type { HeldSlot } from "./with-slot.ts";

export interface Served {
  readonly candidate: Candidate;
  readonly transcript: ProviderTranscript;
  readonly dropped: readonly Preference[];
  readonly billing: Billing;
  /** Charges the attempt and stores the answer under the idempotency key, in one transaction. */
  readonly settle: (reply: GatewayReply) => Promise<void>;
}

type Decided = Extract<RouteDecision, { ok: true }>;

export async function runCandidates(
  services: GatewayServices,
  call: TranscribeCall,
  audio: SpeechAudio,
  decision: Decided,
  slot: HeldSlot | null,
): Promise<Served> {
  const failures: FailedAttempt[] = [];
  let unknown: "unknown" | "timeout" | null = null;
  for (const [index, candidate] of decision.candidates.entries()) {
    const result = await runOne(services, call, audio, decision, candidate, slot);
    if (result.ok) return result.served;
    const { kind, retryAfterSeconds } = result.error;
    const certainty = certaintyOf(kind);
    if (certainty === "definite") failures.push({ position: candidate.target.position, kind, retryAfterSeconds });
    if (certainty === "aborted") throw callerGone();
    if (kind === "unknown" || kind === "timeout") {
      unknown = kind;
      const mayContinue = decision.route.mayPayTwice && index + 1 < decision.candidates.length;
      if (!mayContinue) break;
    }
  }
  if (unknown === null) throw exhausted(failures);
  // Work may have been done under this key: it must never run again.
  await slot?.burn();
  throw outcomeUnknown(unknown);
}

type RunResult = { readonly ok: true; readonly served: Served } | { readonly ok: false; readonly error: ProviderError };

async function runOne(
  services: GatewayServices,
  call: TranscribeCall,
  audio: SpeechAudio,
  decision: Decided,
  candidate: Candidate,
  slot: HeldSlot | null,
): Promise<RunResult> {
  const { target } = candidate;
  const provider = services.providers.get(target.provider);
  if (provider === undefined) throw new Error(`no adapter for ${target.provider}`);
  const account = resolveAccount(services, target, call.principal.testMode);
  const billing = quoteFor(services, call.principal, target, {
    audioMs: Math.round(audio.durationSeconds * 1000),
    channels: audio.channels,
  });
  const attemptId = newId("attempt");
  await reserve(services, call, candidate, billing, attemptId, slot);

  const circuit = circuitOf(target);
  services.circuits.begin(circuit);
  let failure: FailureKind | null = "aborted";
  let dispatched = false;
  try {
    const io = services.openIo({
      baseUrl: account.baseUrl,
      credential: account.credential,
      // With a key the work goes on for the retry that will ask for it; without one nobody is left to want it.
      signal: slot === null ? call.clientGone : NEVER,
      timeoutMs: Math.min(account.timeoutMs, remainingMs(services, call)),
      onDispatch: () => {
        dispatched = true;
      },
    });
    const result = await callTarget(
      { provider, candidate, request: speechRequest(candidate, decision.wanted), audio },
      io,
    );
    if (result.ok) {
      failure = null;
      const { transcript, dropped } = result;
      const settle = async (reply: GatewayReply): Promise<void> => {
        await services.ledger.settle({
          attemptId,
          outcome: "succeeded",
          providerMs: toMs(transcript.providerSeconds),
          billableAudioMs: billing.billableMs,
          chargeNanoUsd: billing.chargeNanoUsd,
          providerRequestId: transcript.providerRequestId,
          receipts: transcript.receipts,
          ...(slot === null ? {} : { slot: { kind: "complete", ref: slot.ref, reply } as const }),
        });
      };
      return { ok: true, served: { candidate, transcript, dropped, billing, settle } };
    }
    failure = result.error.kind;
    services.logger.warn({
      request_id: call.requestId,
      attempt_id: attemptId,
      connection: target.connection,
      provider: target.provider,
      model: target.model,
      failure: result.error.kind,
      provider_status: result.error.status,
      reason: result.error.reason,
    });
    // Charged as run when its caller hung up on it; otherwise a failed attempt is the operator's cost (contract 9).
    const asRun = failure === "aborted" && dispatched;
    await services.ledger.settle({
      attemptId,
      outcome: outcomeOf(failure),
      providerMs: null,
      billableAudioMs: asRun ? billing.billableMs : 0,
      chargeNanoUsd: asRun ? billing.chargeNanoUsd : 0n,
      providerRequestId: null,
      receipts: [],
    });
    return { ok: false, error: result.error };
  } finally {
    services.circuits.end(circuit, failure);
  }
}

async function reserve(
  services: GatewayServices,
  call: TranscribeCall,
  { target }: Candidate,
  billing: Billing,
  attemptId: AttemptId,
  slot: HeldSlot | null,
): Promise<void> {
  const { principal } = call;
  if (principal.app === null) throw new Error("an attempt without an app");
  const reserved = await services.ledger.reserve({
    attemptId,
    requestId: call.requestId,
    workspaceId: principal.workspace.id,
    appId: principal.app.id,
    keyId: principal.key.id,
    endpoint: call.endpoint,
    connection: target.connection,
    provider: target.provider,
    model: target.model,
    position: target.position,
    billingClass: billing.billingClass,
    audioMs: billing.audioMs,
    reserveNanoUsd: billing.chargeNanoUsd,
    estimateNanoUsd: billing.listNanoUsd,
    price: billing.price,
    deadlineAt: new Date(call.receivedAtMs + services.limits.syncTimeoutSeconds * 1000),
    ...(slot === null ? {} : { slot: slot.ref }),
  });
  if (reserved.ok) {
    slot?.markDispatched();
    return;
  }
  if ("exceeded" in reserved) throw budgetExceeded(reserved.exceeded);
  // Our lease lapsed while we measured and another request took the key over: that one answers.
  throw new GatewayError("IDEMPOTENCY_REPLAY_IN_PROGRESS", {
    message: "Another request with this Idempotency-Key has taken over. Retry after a few seconds with the same key.",
  });
}

/** Nobody reads this answer; the edge notices that the caller is gone. */
function callerGone(): GatewayError {
  return new GatewayError("REQUEST_TIMEOUT", { message: "The caller hung up and the work was stopped." });
}

function outcomeOf(kind: FailureKind): AttemptOutcome {
  const certainty = certaintyOf(kind);
  return certainty === "definite" ? `failed:${kind}` : certainty;
}

function remainingMs(services: GatewayServices, call: TranscribeCall): number {
  return Math.max(1, call.receivedAtMs + services.limits.syncTimeoutSeconds * 1000 - services.now().getTime());
}

/** A provider's figure is noted, never trusted: NaN, negative or absurd ones count as missing. */
function toMs(seconds: number | null): number | null {
  return seconds === null || !Number.isFinite(seconds) || seconds < 0 || seconds > 1e7
    ? null
    : Math.round(seconds * 1000);
}

const NEVER = new AbortController().signal;
