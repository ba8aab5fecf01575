// The steps of a synchronous transcription in the order of docs/reference/errors.md, one named step a line. The endpoint has checked the key, scope, limits and
// body before; the compatible endpoints call it too.
import type { TranscriptionEnvelope } from "../../contract/transcription/transcription-envelope.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";
import { requireRoute } from "../calls/routing-errors.ts";
import { dryRunAudio } from "../dry-run/dry-run.ts";
import { audioSlotRequest } from "../idempotency/slot-request.ts";
import { type ClaimedSlot, abortSignalFor, withSlot } from "../idempotency/with-slot.ts";
import { type GatewayReply, jsonReply } from "../reply.ts";
import type { GatewayServices } from "../services.ts";
import { answerOf } from "./answer.ts";
import type { AudioCall } from "./audio-call.ts";
import { callTargets } from "./call-targets.ts";
import { decideWithChat } from "./decide-audio.ts";
import { type Delivery, deliver } from "./delivery.ts";
import { refuseTooManyKeyterms } from "./refuse-too-many-keyterms.ts";
import { withAudio } from "./with-audio.ts";

export interface TranscribeCall extends AudioCall {
  readonly delivery: Delivery;
  /** Turns the envelope into the endpoint's own JSON format, which an idempotency key stores too. */
  readonly present: (envelope: TranscriptionEnvelope) => unknown;
  readonly receivedAtMs: number;
  /** Aborts when the caller hangs up. */
  readonly clientGone: AbortSignal;
}

export async function transcribe(services: GatewayServices, call: TranscribeCall): Promise<GatewayReply> {
  refuseTooManyKeyterms(services, call.fields);
  const claim = await audioSlotRequest(call);
  return withSlot(services, claim, call.recorder, (slot) => serve(services, call, slot));
}

async function serve(services: GatewayServices, call: TranscribeCall, slot: ClaimedSlot | null): Promise<GatewayReply> {
  const { principal, fields } = call;
  const signal = abortSignalFor(call.clientGone, slot);
  const maxUrlBytes = services.limits.maxAudioUrlBytes;
  return withAudio(services, { audio: call.audio, holders: principal, maxUrlBytes, signal }, async (audio) => {
    const { speech } = audio;
    const audioDecision = decideWithChat(services, call, speech);
    // A dry run ends before anything is reserved or called. It has claimed no slot.
    if (fields.dry_run === true) return jsonReply(200, await dryRunAudio(services, call, speech, audioDecision));
    const { byChat } = audioDecision;
    const decision = requireRoute(call, audioDecision.decision);
    await mapDatabaseUnavailable(services.quotas.takeAudio(principal, speech.durationSeconds));
    using holds = new DisposableStack();
    const made = await callTargets(services, call, { audio: speech, decision, byChat, slot, signal, holds });
    const envelope = await answerOf(services, {
      owner: principal.workspace.id,
      createdAt: services.now(),
      wanted: made.wanted,
      purpose: decision.purpose,
      warnings: [...decision.warnings, ...audio.warnings, ...made.warnings],
      audioSeconds: speech.durationSeconds,
      served: made.served,
    });
    const reply = await deliver(envelope, call.delivery, call.present, made.isSimulated);
    await made.finish(reply);
    return reply;
  });
}
