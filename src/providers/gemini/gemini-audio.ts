// The adapter of Gemini with audio: the transcription model by an interaction, general models by generateContent (ai.google.dev, checked 2026-11-26). A general
// model is asked only for text, because anything else would be an unverified claim.
import { z } from "zod";
import type { Feature, Preference } from "../../contract/features.ts";
import { isSameModel, MODEL_NAMES, modelReceipt } from "../answered-model.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { GEMINI_AUDIO_MODELS, GEMINI_NOT_OFFERED, GENERAL } from "./gemini-audio-models.ts";
import { GEMINI_CHAT_MODELS } from "./gemini-chat-models.ts";
import { readGenerated, readInteraction } from "./gemini-audio-reply.ts";
import type { Io } from "../io.ts";
import { jsonWithAudio } from "../wire/json-audio.ts";
import { englishNameOf } from "../wire/language-names.ts";
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
import { plainId, readJsonReply } from "../wire/read-reply.ts";
import { receiptsFor } from "../receipts.ts";

export const geminiAudio: SpeechProvider = {
  kind: "gemini",
  models: GEMINI_AUDIO_MODELS,
  notOffered: GEMINI_NOT_OFFERED,
  unknownModel: GENERAL,
  settings: z.strictObject({}),
  defaultBaseUrl: "https://generativelanguage.googleapis.com",
  plan: planGeminiAudio,
  transcribe: transcribeGeminiAudio,
  normalise: normaliseGeminiAudio,
};

const INTERACTIONS_PATH = "/v1beta/interactions";

/** By name, including dated versions. */
function isTranscriber({ model }: SpeechTarget): boolean {
  return /^gemini-[\d.]+-transcribe(?:-|$)/u.test(model);
}

const TRANSCRIBER_SENDS = new Set<Feature>(["diarization", "timestamps.word", "timestamps.segment", "keyterms"]);
const GENERAL_SENDS = new Set<Feature>(["keyterms", "profanity_filter", "translation"]);

function planGeminiAudio(request: SpeechRequest, target: SpeechTarget): PlanResult {
  const transcriber = isTranscriber(target);
  const sends = transcriber ? TRANSCRIBER_SENDS : GENERAL_SENDS;
  const missing = unmetFeatures(request, target.speech, (feature) => sends.has(feature));
  if (missing.length > 0) return { ok: false, missing };
  const plan = transcriber ? interactionPlan(request, target) : generationPlan(request, target);
  return { ok: true, plan, dropped: droppedPreferences(request, target) };
}

function interactionPlan(request: SpeechRequest, target: SpeechTarget): SpeechPlan {
  const { language } = request;
  const hasLanguage =
    language.kind === "default" || (language.kind === "asked" && supportsPreference(target, "language"));
  // Segments and speakers are placed by the times of their words, as Gemini returns no others.
  const timed = request.words || request.segments || request.diarization;
  // Mode `smart` excludes times and speakers, and leaves words out.
  const mode = {
    type: "verbatim",
    ...(request.diarization ? { diarization_mode: "speaker" } : {}),
    ...(timed ? { timestamp_granularities: ["word"] } : {}),
  };
  const config = {
    ...(hasLanguage ? { language_codes: [language.tag] } : {}),
    ...(request.keyterms.length > 0 ? { custom_vocabulary: request.keyterms } : {}),
    mode,
  };
  return {
    kind: "json",
    path: INTERACTIONS_PATH,
    // Stored by the provider unless turned off.
    body: { model: target.model, store: false, generation_config: { transcription_config: config } },
  };
}

function generationPlan(request: SpeechRequest, target: SpeechTarget): SpeechPlan {
  return {
    kind: "json",
    path: `/v1beta/models/${encodeURIComponent(target.model)}:generateContent`,
    body: {
      systemInstruction: { parts: instructions(request, target).map((text) => ({ text })) },
      generationConfig: {
        ...sampling(target),
        responseMimeType: "application/json",
        responseJsonSchema: ANSWER_SCHEMA,
      },
    },
  };
}

/** Deprecated from 3.6 on. Whether newer models ignore or refuse it is unverified, so it is sent only to those that are known to accept it. */
function sampling({ model }: SpeechTarget): object {
  return GEMINI_CHAT_MODELS[model]?.preferences.includes("temperature") === true ? { temperature: 0 } : {};
}

/** A JSON field keeps a model from commenting, and lets it return an empty text for silence. */
const ANSWER_SCHEMA = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

const VERBATIM =
  "Write down the speech in the audio word for word in the language spoken, with punctuation. Leave nothing out and add nothing. Give it as `text`; when nobody speaks, `text` is empty.";

function instructions(request: SpeechRequest, target: SpeechTarget): readonly string[] {
  const lines = [request.toLanguage === null ? VERBATIM : translateInto(request.toLanguage)];
  if (request.keyterms.length > 0) lines.push(`${TERMS} ${request.keyterms.join(", ")}`);
  if (request.profanityFilter) lines.push(MASK);
  if (request.prompt !== null && supportsPreference(target, "prompt")) lines.push(`About the audio: ${request.prompt}`);
  return lines;
}

const TERMS = "Where these terms are spoken, write them so:";
const MASK = "Write asterisks in the place of profane words.";

function translateInto(tag: string): string {
  return `Translate the speech in the audio into ${englishNameOf(tag)} (${tag}), whole and faithfully. Give the translation as \`text\`; when nobody speaks, \`text\` is empty.`;
}

function droppedPreferences(request: SpeechRequest, target: SpeechTarget): readonly Preference[] {
  const list: Preference[] = [];
  if (request.language.kind === "detect") list.push("detect_language");
  if (request.language.kind === "asked" && !(supportsPreference(target, "language") && isTranscriber(target)))
    list.push("language");
  if (request.speakerCountHint !== null) list.push("speaker_count_hint");
  if (request.smartFormatting !== null) list.push("smart_formatting");
  if (request.prompt !== null && (isTranscriber(target) || !supportsPreference(target, "prompt"))) list.push("prompt");
  return list;
}

/** Media types of both APIs. Neither lists mp4 and MPEG streams. */
const MIME_TYPES: Readonly<Partial<Record<SpeechAudio["format"], string>>> = {
  wav: "audio/wav",
  mp3: "audio/mp3",
  m4a: "audio/m4a",
  webm: "audio/webm",
};

async function transcribeGeminiAudio(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RawTranscript> {
  if (plan.kind !== "json") throw new TypeError("Gemini takes JSON");
  const mimeType = MIME_TYPES[audio.format] ?? audio.mediaType;
  const body = jsonWithAudio(
    (data) =>
      plan.path.endsWith(INTERACTIONS_PATH)
        ? { ...plan.body, input: [{ type: "audio", mime_type: mimeType, data }] }
        : { ...plan.body, contents: [{ role: "user", parts: [{ inlineData: { mimeType, data } }] }] },
    audio,
  );
  const reply = await io.send({
    method: "POST",
    path: plan.path,
    headers: {
      "content-type": "application/json",
      ...(io.credential === null ? {} : { "x-goog-api-key": io.credential }),
    },
    body,
  });
  return readJsonReply(reply, io.credential);
}

function normaliseGeminiAudio(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
): ProviderTranscript {
  const { text, words, requestId, model } = isTranscriber(target) ? readInteraction(raw.body) : readGenerated(raw.body);
  const planned = planGeminiAudio(request, target);
  const requestBody = planned.ok && planned.plan.kind === "json" ? JSON.stringify(planned.plan.body) : "";
  const receipts = receiptsFor(
    request,
    audio,
    // Channels are mixed, and no language is reported. Segments are built from words.
    { text, words, segments: words, channels: 1, language: null, wasSent: (feature) => wasSent(feature, requestBody) },
    false,
  );
  return {
    text,
    language: null,
    languageConfidence: null,
    segments: [],
    words,
    providerSeconds: null,
    providerRequestId: plainId(requestId),
    receipts: [...receipts, ...modelReceipts(model, target)],
  };
}

/** Whether an interaction reports its model is not documented, so that only one that does is judged. */
function modelReceipts(model: string | null, target: SpeechTarget): readonly Receipt[] {
  if (model === null && isTranscriber(target)) return [];
  return [modelReceipt(model, (answered) => isSameModel(MODEL_NAMES.gemini, target.model, answered))];
}

function wasSent(feature: Feature, requestBody: string): boolean {
  if (feature === "keyterms") return requestBody.includes('"custom_vocabulary":[') || requestBody.includes(TERMS);
  if (feature === "profanity_filter") return requestBody.includes(MASK);
  return feature === "translation" && requestBody.includes("Translate the speech");
}
