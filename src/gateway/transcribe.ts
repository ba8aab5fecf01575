// The synchronous story of a transcription, one named step a line, in the order of judgement of contract 1. The edge has
// done the head (key, scope, limits) and the body (fields, spool) before; jobs and the compatible endpoints begin here too.
import type { Principal } from "../auth/principal.ts";
import { GatewayError } from "../contract/errors.ts";
import { newId, type RequestId } from "../contract/ids.ts";
import type { AudioInput } from "../audio/audio-input.ts";
import type { PurposePolicy } from "../routing/types.ts";
import type { TranslationFields } from "../contract/transcription.ts";
import { decideRoute, type RouteDecision } from "../routing/decide-route.ts";
import { mergedKeyterms, type Requirements } from "../routing/required-features.ts";
import { describeDecision } from "./describe-decision.ts";
import { buildEnvelope, DELIVERY_TYPES, type Delivery, deliver, deliverable } from "./envelope.ts";
import { fingerprint } from "./fingerprint.ts";
import { finishTranscript } from "./finish-transcript.ts";
import { measureAudio, type MeasuredAudio } from "./measure-audio.ts";
import { refusalError } from "./refuse-route.ts";
import { type GatewayReply, jsonReply } from "./reply.ts";
import { circuitOf } from "./resolve-account.ts";
import { runCandidates } from "./run-candidates.ts";
import type { GatewayServices } from "./services.ts";
import { droppedPreferences, emulatedFeatures } from "./speech-request.ts";
import { type HeldSlot, withSlot } from "./with-slot.ts";

/** A transcription as the edge understood it. */
export interface TranscribeCall {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly task: Requirements["task"];
  readonly principal: Principal;
  /** `to_language` is there for translations alone. */
  readonly fields: TranslationFields;
  readonly audio: AudioInput;
  readonly purposeHeader: string | null;
  readonly policyHeader: PurposePolicy | null;
  readonly idempotencyKey: string | null;
  readonly delivery: Delivery;
  readonly receivedAtMs: number;
  /** Aborts when the caller hangs up. */
  readonly clientGone: AbortSignal;
}

export async function transcribe(services: GatewayServices, call: TranscribeCall): Promise<GatewayReply> {
  refuseWhatIsNotBuilt(call);
  refuseUndeliverable(call);
  refuseTooManyKeyterms(services, call);
  if (call.fields.dry_run === true) return explain(services, call);
  return withSlot(services, slotRequest(call), async (slot) => {
    const audio = await measureAudio(services, call);
    const decision = decide(services, call, audio);
    if (!decision.ok) throw refusalError(decision.refusal, decision.considered, showsNames(call));
    return serve(services, call, audio, decision, slot);
  });
}

async function serve(
  services: GatewayServices,
  call: TranscribeCall,
  audio: MeasuredAudio,
  decision: Extract<RouteDecision, { ok: true }>,
  slot: HeldSlot | null,
): Promise<GatewayReply> {
  services.quotas.takeAudio(call.principal, audio.speech.durationSeconds);
  const served = await runCandidates(services, call, audio.speech, decision, slot);
  const { candidate, transcript, billing } = served;
  const finished = finishTranscript(transcript, decision.wanted, audio.speech.durationSeconds);
  const envelope = buildEnvelope({
    id: newId("transcription"),
    createdAt: services.now(),
    object: call.task === "translate" ? "translation" : "transcription",
    transcript: finished,
    language: transcript.language,
    languageConfidence: transcript.languageConfidence,
    audioSeconds: audio.speech.durationSeconds,
    billableAudioSeconds: billing.billableMs / 1000,
    warnings: [
      ...decision.warnings,
      ...audio.warnings,
      ...droppedPreferences(candidate, decision.wanted, served.dropped),
      ...emulatedFeatures(candidate),
      ...finished.warnings,
      ...(billing.billingClass === "simulated" ? [SIMULATED] : []),
    ],
    purpose: decision.purpose,
  });
  const reply = deliver(envelope, call.delivery, billing.billingClass === "simulated");
  await served.settle(reply);
  return reply;
}

/** `dry_run`: judges everything up to the call; nothing is reserved, called or kept (contract 3). */
async function explain(services: GatewayServices, call: TranscribeCall): Promise<GatewayReply> {
  const audio = await measureAudio(services, call);
  const decision = decide(services, call, audio);
  return jsonReply(
    200,
    describeDecision(services, call, audio.speech.durationSeconds, audio.speech.channels, decision),
  );
}

function decide(services: GatewayServices, call: TranscribeCall, audio: MeasuredAudio): RouteDecision {
  const { key, app, workspace } = call.principal;
  if (app === null)
    throw new GatewayError("FORBIDDEN", {
      message: "This key belongs to no app and routes nothing. Use an app's key.",
      details: { required: ["app"] },
    });
  const context = services.directory().contextOf(workspace.id, app, key.routing);
  const question = {
    task: call.task,
    fields: call.fields,
    purpose: {
      body: call.fields.purpose ?? null,
      header: call.purposeHeader,
      policy: call.fields.purpose_policy ?? call.policyHeader,
    },
    audio: audio.speech,
  };
  return decideRoute(context, question, (target) => services.circuits.isHealthy(circuitOf(target)));
}

/** Until jobs and remote audio land; streams are judged as a feature that no model has. */
function refuseWhatIsNotBuilt(call: TranscribeCall): void {
  if (call.fields.mode === "async") {
    throw new GatewayError("INVALID_REQUEST", {
      message: "mode async is not available in this version; leave it out for a synchronous answer.",
      param: "mode",
    });
  }
  if (call.audio.kind === "url") {
    throw new GatewayError("AUDIO_URL_REJECTED", {
      message: "No host is allowed for audio.url on this gateway. Upload the audio as a multipart file or as base64.",
      param: "audio.url",
      details: { reason: "host_not_allowed" },
    });
  }
}

function refuseUndeliverable(call: TranscribeCall): void {
  const format = call.fields.response_format ?? "json";
  if (deliverable(call.delivery, format)) return;
  throw new GatewayError("NOT_ACCEPTABLE", {
    message: `Accept asks for ${DELIVERY_TYPES[call.delivery]}, but response_format is ${format}. Set response_format to srt or vtt, or accept application/json.`,
    param: "accept",
  });
}

/** `max_keyterms` counts the merged list; a purpose's default terms are the operator's own and do not count. */
function refuseTooManyKeyterms({ limits }: GatewayServices, { fields }: TranscribeCall): void {
  const count = mergedKeyterms(fields).length;
  if (count <= limits.maxKeyterms) return;
  const message = `keyterms and custom_vocabulary hold ${count} different terms together; this gateway takes at most ${limits.maxKeyterms}.`;
  throw new GatewayError("INVALID_REQUEST", {
    message,
    param: "keyterms",
    details: { max_keyterms: limits.maxKeyterms, received: count, issues: [{ param: "keyterms", message }] },
  });
}

function slotRequest(call: TranscribeCall) {
  if (
    call.idempotencyKey === null ||
    call.audio.kind === "url" ||
    call.fields.stream === true ||
    call.principal.app === null
  )
    return null;
  const { spooled } = call.audio;
  return {
    workspaceId: call.principal.workspace.id,
    appId: call.principal.app.id,
    key: call.idempotencyKey,
    endpoint: call.endpoint,
    fingerprint: fingerprint({
      endpoint: call.endpoint,
      fields: call.fields,
      requestedPurpose: call.fields.purpose ?? call.purposeHeader,
      requestedPolicy: call.fields.purpose_policy ?? call.policyHeader,
      audio: { kind: "bytes", sha256: spooled.sha256, sizeBytes: spooled.sizeBytes },
    }),
  };
}

function showsNames(call: TranscribeCall): boolean {
  return call.principal.scopes.includes("routing:read");
}

const SIMULATED = {
  code: "SIMULATED_PROVIDER",
  message: "The sandbox answered: the audio was measured, nothing was recognised.",
  param: null,
  details: null,
} as const;
