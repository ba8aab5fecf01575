// The steps of a synchronous transcription in the order of docs/reference/errors.md, one named step a line. The endpoint has checked the key, scope, limits and
// body before; the compatible endpoints call it too.
import { assertNever } from "../../lib/assert-never.ts";
import type { TranscriptionEnvelope } from "../../contract/transcription.ts";
import type { RouteDecision } from "../../routing/decide-route.ts";
import type { ByChat } from "../../routing/decide-translation.ts";
import { answerOf } from "./answer.ts";
import { type AudioCall, payerOf, refuseTooManyKeyterms, slotRequest } from "./audio-call.ts";
import { type Delivery, deliver } from "./envelope.ts";
import { exhaustedError, outcomeUnknown, USE_A_JOB } from "../calls/judge-failure.ts";
import { callerGone } from "../calls/attempt-end.ts";
import { explain } from "../dry-run/explain.ts";
import type { MeasuredAudio } from "./measure-audio.ts";
import { requireRoute } from "../calls/refuse-route.ts";
import type { GatewayReply } from "../reply.ts";
import { type AttemptAllowance, createAttemptAllowance } from "../calls/attempt-allowance.ts";
import type { CandidateRun, ServedOutcome } from "../calls/candidate-run.ts";
import { runCandidates } from "../calls/run-candidates.ts";
import type { GatewayServices } from "../services.ts";
import { type SlotJournal, createSlotJournal } from "../idempotency/slot-journal.ts";
import { decideWithChat, type MadeTranscript, translateByChat } from "../translation/translate-by-chat.ts";
import { type AudioRequest, withAudio } from "./with-audio.ts";
import { type ClaimedSlot, abortSignalFor, withSlot } from "../idempotency/with-slot.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

export interface TranscribeCall extends AudioCall {
  readonly delivery: Delivery;
  /** Turns the envelope into the endpoint's own JSON format, which an idempotency key stores too. */
  readonly present: (envelope: TranscriptionEnvelope) => unknown;
  readonly receivedAtMs: number;
  /** Aborts when the caller hangs up. */
  readonly clientGone: AbortSignal;
}

type Decided = Extract<RouteDecision, { ok: true }>;

export async function transcribe(services: GatewayServices, call: TranscribeCall): Promise<GatewayReply> {
  refuseTooManyKeyterms(services, call);
  if (call.fields.dry_run === true) return explain(services, call, audioRequest(services, call, null));
  return withSlot(services, await slotRequest(call), call.recorder, (slot) =>
    withAudio(services, audioRequest(services, call, slot), async (audio) => {
      const { decision, byChat } = decideWithChat(services, call, audio.speech);
      return serve(services, call, audio, requireRoute(call, decision), byChat, slot);
    }),
  );
}

async function serve(
  services: GatewayServices,
  call: TranscribeCall,
  audio: MeasuredAudio,
  decision: Decided,
  byChat: ByChat | null,
  slot: ClaimedSlot | null,
): Promise<GatewayReply> {
  const audioSeconds = audio.speech.durationSeconds;
  await mapDatabaseUnavailable(services.quotas.takeAudio(call.principal, audioSeconds));
  const journal = createSlotJournal(services, payerOf(call, decision), slot, deadlineOf(services, call));
  using holds = new DisposableStack();
  const allowance = allowanceOf(services, byChat);
  const transcribed = await callTargets(services, call, audio, decision, slot, {
    journal,
    holds,
    allowance: byChat === null ? allowance : allowance.leaving(1),
  });
  const result =
    byChat === null
      ? transcriptOf(decision, transcribed, journal)
      : await translateByChat(services, call, { decision, byChat, transcribed, slot, journal, allowance });
  const envelope = await answerOf(services, {
    owner: call.principal.workspace.id,
    createdAt: services.now(),
    wanted: result.wanted,
    purpose: decision.purpose,
    warnings: [...decision.warnings, ...audio.warnings, ...result.warnings],
    audioSeconds,
    served: result.served,
  });
  const reply = await deliver(envelope, call.delivery, call.present, result.isSimulated);
  await result.finish(reply);
  return reply;
}

/** Shared by both steps of a translation by chat, which need one target each. */
function allowanceOf({ limits }: GatewayServices, byChat: ByChat | null): AttemptAllowance {
  return createAttemptAllowance(
    byChat === null ? limits.maxAttemptsPerRequest : Math.max(2, limits.maxAttemptsPerRequest),
  );
}

function transcriptOf({ wanted }: Decided, served: ServedOutcome, journal: SlotJournal): MadeTranscript {
  return {
    wanted,
    served,
    warnings: [],
    isSimulated: served.billing.billingClass === "simulated",
    finish: (reply) => journal.finish(served.settlement, reply),
  };
}

async function callTargets(
  services: GatewayServices,
  call: TranscribeCall,
  { speech }: MeasuredAudio,
  decision: Decided,
  slot: ClaimedSlot | null,
  shared: Pick<CandidateRun, "journal" | "allowance" | "holds">,
): Promise<ServedOutcome> {
  const outcome = await runCandidates(services, {
    payer: payerOf(call, decision),
    audio: speech,
    wanted: decision.wanted,
    candidates: decision.candidates,
    mayPayTwice: decision.route.mayPayTwice,
    deadlineAtMs: deadlineOf(services, call),
    signal: abortSignalFor(call, slot),
    ...shared,
  });
  switch (outcome.kind) {
    case "served":
      return outcome;
    case "exhausted":
      throw exhaustedError(outcome.failures, decision.considered, outcome.attemptLimit);
    case "unknown":
      // Work may have been done under this key: it must never run again.
      await slot?.burn();
      throw outcomeUnknown(outcome.how, { advice: USE_A_JOB, wasFollowed: outcome.wasFollowed });
    case "aborted":
      // The response is never read, because the caller disconnected.
      throw callerGone();
    default:
      return assertNever(outcome);
  }
}

function deadlineOf({ limits }: GatewayServices, { receivedAtMs }: TranscribeCall): number {
  return receivedAtMs + limits.syncTimeoutSeconds * 1000;
}

function audioRequest({ limits }: GatewayServices, call: TranscribeCall, slot: ClaimedSlot | null): AudioRequest {
  return {
    audio: call.audio,
    holders: call.principal,
    maxUrlBytes: limits.maxAudioUrlBytes,
    signal: abortSignalFor(call, slot),
  };
}
