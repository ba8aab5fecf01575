// The adapter of Deepgram: POST /v1/listen, and a WebSocket on the same path, with every option in the query (developers.deepgram.com, checked 2026-11-26).
import { z } from "zod";
import type { Feature, Preference } from "../../contract/features.ts";
import { accountProbe, withoutModels } from "../account-probe.ts";
import { reportedModel } from "../answered-model.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { streamDeepgram } from "./deepgram-live.ts";
import { DEEPGRAM_MODELS, deepgramLanguage } from "./deepgram-models.ts";
import { type DeepgramReply, readDeepgramReply } from "./deepgram-reply.ts";
import type { Io } from "../io.ts";
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
import { plainId, readJsonReply, requestIdOf } from "../wire/read-reply.ts";
import { receiptsFor } from "../receipts.ts";

const deepgramSettings = z.strictObject({
  mip_opt_out: z.boolean().describe("Opt out of Deepgram's model training (default: true).").optional(),
  diarize_model: z
    .enum(["latest", "v1", "v2"])
    .describe("Version of speaker diarization (default: `latest`).")
    .optional(),
});

export const deepgram: SpeechProvider = {
  kind: "deepgram",
  models: DEEPGRAM_MODELS,
  settings: deepgramSettings,
  defaultBaseUrl: "https://api.deepgram.com",
  plan: planDeepgram,
  transcribe: transcribeDeepgram,
  stream: streamDeepgram,
  normalise: normaliseDeepgram,
};

/** Only this feature has no parameter. */
function canSend(feature: Feature): boolean {
  return feature !== "translation";
}

function planDeepgram(request: SpeechRequest, target: SpeechTarget): PlanResult {
  const missing = unmetFeatures(request, target.speech, canSend);
  const keyterms = keytermParameters(request.keyterms, target);
  if (missing.length > 0) return { ok: false, missing };
  if (keyterms === null) return { ok: false, missing: ["keyterms_limit"] };
  const { mip_opt_out: optOut = true, diarize_model: diarizeModel = "latest" } = readSettings.parse(target.settings);
  const query: [string, string][] = [["model", target.model], languageParameter(request, target)];
  // Punctuation is the default here, as other providers do it by default. Deepgram's own default is none.
  if (request.smartFormatting === true) query.push(["smart_format", "true"]);
  if (request.smartFormatting !== false) query.push(["punctuate", "true"]);
  // The streaming API supports only the first version, and returns what is said between two pauses as a separate result.
  if (request.diarization) query.push(["diarize_model", request.stream ? "v1" : diarizeModel]);
  if (request.stream) query.push(["interim_results", "false"]);
  else if (request.segments || request.diarization || request.multichannel) query.push(["utterances", "true"]);
  for (const group of request.redaction) query.push(["redact", group]);
  query.push(...keyterms);
  if (request.multichannel) query.push(["multichannel", "true"]);
  if (request.profanityFilter) query.push(["profanity_filter", "true"]);
  if (optOut) query.push(["mip_opt_out", "true"]);
  return { ok: true, plan: { kind: "raw", path: "/v1/listen", query }, dropped: droppedPreferences(request, target) };
}

/** Settings were validated with the configuration. Invalid ones are ignored here. Created once: it takes 0.1 ms. */
const readSettings = deepgramSettings.strip().catch({});

/** Detection overrides `language`. The default is sent explicitly, because conditions on language were judged against it. */
function languageParameter(request: SpeechRequest, target: SpeechTarget): [string, string] {
  const { language } = request;
  if (language.kind === "asked" || language.kind === "default")
    return ["language", deepgramLanguage(target.model, language.tag)];
  if (language.kind === "detect" && detects(request, target)) return ["detect_language", "true"];
  return ["language", "en"];
}

/** Language detection exists only for files. */
function detects(request: SpeechRequest, target: SpeechTarget): boolean {
  return !request.stream && supportsPreference(target, "detect_language");
}

/** `keyterm` exists only on nova-3, `keywords` only on older models, where a colon would be parsed as a boost. */
function keytermParameters(terms: readonly string[], target: SpeechTarget): readonly [string, string][] | null {
  if (!takesKeywords(target.model)) return terms.map((term) => ["keyterm", term]);
  if (terms.some((term) => /[\s:]/u.test(term.trim()))) return null;
  return terms.map((term) => ["keywords", term.trim()]);
}

function takesKeywords(model: string): boolean {
  return /^(nova-2|nova|enhanced|base)(-(?!\d)|$)/u.test(model);
}

function droppedPreferences(request: SpeechRequest, target: SpeechTarget): readonly Preference[] {
  const dropped: Preference[] = [];
  if (request.language.kind === "detect" && !detects(request, target)) dropped.push("detect_language");
  if (request.speakerCountHint !== null) dropped.push("speaker_count_hint");
  if (request.prompt !== null) dropped.push("prompt");
  return dropped;
}

async function transcribeDeepgram(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RawTranscript> {
  if (plan.kind !== "raw") throw new TypeError("deepgram takes raw audio");
  const reply = await io.send({
    method: "POST",
    path: plan.path,
    query: plan.query,
    headers: { "content-type": audio.mediaType, ...authorization(io.credential) },
    body: { sizeBytes: audio.sizeBytes, open: audio.open },
  });
  return readJsonReply(reply, io.credential);
}

function authorization(credential: string | null): Readonly<Record<string, string>> {
  return credential === null ? {} : { authorization: `Token ${credential}` };
}

/** The request that its documentation of keys recommends. The model list is the same for all keys, whatever they may use. */
export const deepgramProbe = accountProbe({
  path: "/v1/auth/token",
  headers: authorization,
  listsModels: false,
  read: withoutModels(z.looseObject({})),
  restrictedSays: /INSUFFICIENT_PERMISSIONS/u,
});

function normaliseDeepgram(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
): ProviderTranscript {
  const reply = readDeepgramReply(raw.body, request.multichannel);
  // A `sent` receipt is read from the parameters. Planning is pure and can be repeated.
  const result = planDeepgram(request, target);
  const receipts = receiptsFor(
    request,
    audio,
    { ...reply, wasSent: (feature) => result.ok && wasSent(feature, result.plan) },
    detects(request, target),
  );
  return {
    text: reply.text,
    language: reply.language,
    languageConfidence: reply.languageConfidence,
    segments: reply.segments,
    words: reply.words,
    providerSeconds: reply.seconds,
    providerRequestId: requestIdOf(raw.headers, "dg-request-id") ?? plainId(reply.requestId),
    receipts: [...receipts, ...modelReceipt(target.model, reply)],
  };
}

/** Detection may silently switch to an older generation, which only `model_info` shows. Custom names cannot be judged. */
function modelReceipt(model: string, reply: DeepgramReply): readonly Receipt[] {
  const generation = /^nova-\d+/u.exec(model)?.[0];
  if (generation === undefined) return [];
  const other = reply.models.find((name) => GENERATION.test(name) && !name.includes(generation));
  const delivered = other === undefined && reply.models.some((name) => name.includes(generation));
  const answered = reportedModel(other ?? reply.models.find((name) => name !== ""));
  return [{ feature: "model", grade: "echoed", delivered, ...(answered === null ? {} : { answered }) }];
}

const GENERATION = /\b(nova|enhanced|base|whisper|flux)\b/u;

function wasSent(feature: Feature, plan: SpeechPlan): boolean {
  if (plan.kind !== "raw") return false;
  const hasParameter = (name: string, value?: string): boolean =>
    plan.query.some((parameter) => parameter[0] === name && (value === undefined || parameter[1] === value));
  if (feature.startsWith("redaction.")) return hasParameter("redact", feature.slice("redaction.".length));
  if (feature === "keyterms") return hasParameter("keyterm") || hasParameter("keywords");
  if (feature === "streaming") return hasParameter("interim_results");
  return feature === "profanity_filter" && hasParameter("profanity_filter", "true");
}
