// The adapter of ElevenLabs: POST /v1/speech-to-text, multipart (elevenlabs.io/docs, checked 2026-11-26). It returns the transcript at once and also
// stores it, so it is deleted there. Streams use a WebSocket and other models.
import { z } from "zod";
import type { Feature, Preference } from "../../contract/features.ts";
import { primarySubtag } from "../../lib/text/primary-subtag.ts";
import { accountProbe, withoutModels } from "../account-probe.ts";
import { isSameModel, MODEL_NAMES, modelReceipt, reportedModel } from "../answered-model.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { planElevenLabsStream, streamElevenLabs } from "./elevenlabs-live.ts";
import { type ElevenLabsSession, readElevenLabsSession } from "./elevenlabs-live-reader.ts";
import { ELEVENLABS_MODELS } from "./elevenlabs-models.ts";
import { readElevenLabsReply } from "./elevenlabs-reply.ts";
import type { Io, RemoteRun } from "../io.ts";
import { multipartBody } from "../wire/multipart.ts";
import type {
  PlanResult,
  ProviderTranscript,
  RawTranscript,
  Receipt,
  SpeechAudio,
  SpeechPlan,
  SpeechProvider,
  SpeechRequest,
  SpeechTarget,
} from "../provider.ts";
import { readJsonReply } from "../wire/read-reply.ts";
import { receiptsFor, saidInText } from "../receipts.ts";

const settings = z.strictObject({
  no_verbatim: z.boolean().describe("scribe_v2 and live models: omit fillers, false starts and sounds.").optional(),
  zero_retention: z.boolean().describe("Zero retention; for enterprise accounts only.").optional(),
});

const PATH = "/v1/speech-to-text";
const ZERO_RETENTION = "?enable_logging=false";

export const elevenlabs: SpeechProvider = {
  kind: "elevenlabs",
  models: ELEVENLABS_MODELS,
  settings,
  defaultBaseUrl: "https://api.elevenlabs.io",
  plan: planElevenLabs,
  transcribe: transcribeElevenLabs,
  stream: streamElevenLabs,
  remove: removeElevenLabs,
  normalise: normaliseElevenLabs,
};

/** It has categories of entities and none for numbers. Streams have their own plan, and there is no translation. */
function canSend(feature: Feature): boolean {
  return feature !== "redaction.numbers" && feature !== "translation" && feature !== "streaming";
}

function planElevenLabs(request: SpeechRequest, target: SpeechTarget): PlanResult {
  if (request.stream) return planElevenLabsStream(request, target);
  const missing = [
    ...unmetFeatures(request, target.speech, canSend),
    ...(target.speech.streamsOnly === true ? (["batch"] as const) : []),
  ];
  if (missing.length > 0) return { ok: false, missing };
  const fields: [string, string][] = [
    ["model_id", target.model],
    // Laughter and footsteps are not words.
    ["tag_audio_events", "false"],
  ];
  const { language } = request;
  if ((language.kind === "asked" && supportsPreference(target, "language")) || language.kind === "default") {
    fields.push(["language_code", primarySubtag(language.tag)]);
  }
  if (request.diarization) fields.push(["diarize", "true"]);
  if (request.diarization && request.speakerCountHint !== null && supportsPreference(target, "speaker_count_hint")) {
    fields.push(["num_speakers", String(request.speakerCountHint)]);
  }
  if (request.multichannel) fields.push(["use_multi_channel", "true"]);
  for (const term of request.keyterms) fields.push(["keyterms", term]);
  fields.push(...entityFields(request));
  if (target.settings["no_verbatim"] === true) fields.push(["no_verbatim", "true"]);
  const path = target.settings["zero_retention"] === true ? `${PATH}${ZERO_RETENTION}` : PATH;
  return { ok: true, plan: { kind: "multipart", path, fields }, dropped: droppedPreferences(request, target) };
}

/** Redacted entities have to be detected as well. */
function entityFields(request: SpeechRequest): readonly [string, string][] {
  const categories = [...request.redaction, ...(request.profanityFilter ? ["offensive_language"] : [])];
  if (categories.length === 0) return [];
  return [
    ...categories.map((category): [string, string] => ["entity_detection", category]),
    ...categories.map((category): [string, string] => ["entity_redaction", category]),
    ["entity_redaction_mode", "entity_type"],
  ];
}

function droppedPreferences(request: SpeechRequest, target: SpeechTarget): readonly Preference[] {
  const { language, smartFormatting } = request;
  const dropped: Preference[] = [];
  if (language.kind === "detect" && !supportsPreference(target, "detect_language")) dropped.push("detect_language");
  if (language.kind === "asked" && !supportsPreference(target, "language")) dropped.push("language");
  if (request.speakerCountHint !== null && !supportsPreference(target, "speaker_count_hint"))
    dropped.push("speaker_count_hint");
  // Output is always formatted: only turning that off is ignored.
  if (smartFormatting === false || (smartFormatting === true && !supportsPreference(target, "smart_formatting"))) {
    dropped.push("smart_formatting");
  }
  if (request.prompt !== null) dropped.push("prompt");
  return dropped;
}

async function transcribeElevenLabs(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RawTranscript> {
  if (plan.kind !== "multipart") throw new TypeError("ElevenLabs takes multipart");
  const { contentType, body } = multipartBody(plan.fields, audio);
  const reply = await io.send({
    method: "POST",
    path: plan.path,
    headers: { "content-type": contentType, ...authorization(io.credential) },
    body,
  });
  const raw = readJsonReply(reply, io.credential);
  const id = transcriptionId(raw.body);
  if (id !== null && !plan.path.endsWith(ZERO_RETENTION)) await io.onRemoteRun({ id, details: { path: plan.path } });
  return raw;
}

const stored = z.object({ transcription_id: z.string().regex(/^[\w-]{1,128}$/u) });

function transcriptionId(body: unknown): string | null {
  const parsed = stored.safeParse(body);
  return parsed.success ? parsed.data.transcription_id : null;
}

async function removeElevenLabs(run: RemoteRun, io: Io): Promise<void> {
  const { path } = run.details;
  const reply = await io.send({
    method: "DELETE",
    path: `${typeof path === "string" ? path : PATH}/transcripts/${encodeURIComponent(run.id)}`,
    headers: authorization(io.credential),
    isFree: true,
  });
  // The status of a deletion decides, whatever its body contains.
  if ((reply.status >= 200 && reply.status < 300) || reply.status === 404) return;
  readJsonReply(reply, io.credential);
}

function authorization(credential: string | null): Readonly<Record<string, string>> {
  return credential === null ? {} : { "xi-api-key": credential };
}

/** Lists text-to-speech models, not those that transcribe. A key for speech-to-text alone may not call this and gets a 401. */
export const elevenlabsProbe = accountProbe({
  path: "/v1/models",
  headers: authorization,
  listsModels: false,
  read: withoutModels(z.array(z.unknown())),
  restrictedSays: /\b(?:missing_permissions|insufficient_permissions)\b/u,
});

function normaliseElevenLabs(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
): ProviderTranscript {
  if (request.stream) return normaliseLive(raw, request, target, audio);
  const reply = readElevenLabsReply(raw.body, request);
  const words = saidInText(request, reply.text, reply.words);
  const planned = planElevenLabs(request, target);
  const fields = planned.ok && planned.plan.kind === "multipart" ? planned.plan.fields : [];
  const receipts = receiptsFor(
    request,
    audio,
    // An answer has no segments, so the gateway builds them from the words.
    { ...reply, words, segments: words, wasSent: (feature) => wasSent(feature, fields) },
    supportsPreference(target, "detect_language"),
  );
  return {
    text: reply.text,
    language: reply.language,
    languageConfidence: reply.languageConfidence,
    segments: [],
    words,
    providerSeconds: reply.seconds,
    providerRequestId: transcriptionId(raw.body),
    receipts,
  };
}

function wasSent(feature: Feature, fields: readonly (readonly [string, string])[]): boolean {
  const hasField = (name: string, value?: string): boolean =>
    fields.some((field) => field[0] === name && (value === undefined || field[1] === value));
  const redacts = (category: string): boolean =>
    hasField("entity_detection", category) &&
    hasField("entity_redaction", category) &&
    hasField("entity_redaction_mode");
  if (feature.startsWith("redaction.")) return redacts(feature.slice("redaction.".length));
  if (feature === "profanity_filter") return redacts("offensive_language");
  return feature === "keyterms" && hasField("keyterms");
}

function normaliseLive(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
): ProviderTranscript {
  const reply = readElevenLabsReply(raw.body, request);
  const session = readElevenLabsSession(raw.body);
  const { segments } = session;
  const receipts = receiptsFor(
    request,
    audio,
    { ...reply, segments, wasSent: (feature) => wasStreamed(feature, session, request, target) },
    supportsPreference(target, "detect_language"),
  );
  return {
    text: reply.text,
    language: reply.language,
    languageConfidence: reply.languageConfidence,
    segments,
    words: reply.words,
    providerSeconds: reply.seconds,
    providerRequestId: session.id,
    receipts: [...receipts, ...liveModelReceipt(session, target)],
  };
}

/** A session repeats its options at its start. Where it repeats none, the receipt is read from the parameters: planning is pure and can be repeated. */
function wasStreamed(
  feature: Feature,
  { keyterms }: ElevenLabsSession,
  request: SpeechRequest,
  target: SpeechTarget,
): boolean {
  const result = planElevenLabsStream(request, target);
  if (!result.ok || result.plan.kind !== "raw") return false;
  if (feature === "streaming") return true;
  const isSent = result.plan.query.some(([name]) => name === "keyterms");
  return feature === "keyterms" && isSent && request.keyterms.every((term) => keyterms?.includes(term) !== false);
}

/** Whether every session reports its model is not verified, so that one that reports none is not judged. */
function liveModelReceipt({ model }: ElevenLabsSession, target: SpeechTarget): readonly Receipt[] {
  const answered = reportedModel(model);
  if (answered === null) return [];
  return [modelReceipt(answered, (name) => isSameModel(MODEL_NAMES.elevenlabs, target.model, name))];
}
