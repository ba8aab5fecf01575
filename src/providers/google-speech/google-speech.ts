// The adapter of Google Cloud Speech-to-Text v2 over REST (cloud.google.com/speech-to-text/v2, checked 2026-11-20): `recognize` for audio that fits a request,
// `batchRecognize` through the operator's bucket for longer audio.
import { z } from "zod";
import type { Feature, Preference } from "../../contract/features.ts";
import { accountProbe } from "../account-probe.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { GOOGLE_SPEECH_MODELS, googleLocale, withBucket } from "./google-speech-models.ts";
import { readGoogleReply } from "./google-speech-reply.ts";
import { forgetGoogleToken, isServiceAccountOrToken } from "./google-token.ts";
import { fitsRequest, googleSpeechRemote, inProject, recognize, sendToSpeech } from "./google-speech-run.ts";
import type {
  LanguageInForce,
  PlanResult,
  ProviderTranscript,
  RawTranscript,
  SpeechAudio,
  SpeechPlan,
  SpeechProvider,
  SpeechRequest,
  SpeechTarget,
} from "../provider.ts";
import { receiptsFor } from "../receipts.ts";
import { transcribeRemotely } from "../wire/run-remote.ts";
import { plainId } from "../wire/read-reply.ts";

const settings = z.strictObject({
  location: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,30}$/)
    .describe("Region (default: `us`). The chirp models are not available in `global`.")
    .optional(),
  project: z
    .string()
    .regex(/^[a-z][a-z0-9:.-]{1,62}$/)
    .describe("The Google Cloud project (default: that of the service account).")
    .optional(),
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/)
    .describe(
      "A Cloud Storage bucket for audio that is too long for one request; objects are deleted after use. Not set: such audio is refused.",
    )
    .optional(),
});

export const googleSpeech: SpeechProvider = {
  kind: "google-speech",
  models: GOOGLE_SPEECH_MODELS,
  settings,
  configured: (name, model, settings) => (bucketOf(settings) === null ? model : withBucket(name, model)),
  credentialFault: (credential) =>
    isServiceAccountOrToken(credential)
      ? null
      : "is JSON, but no service account's key: `client_email` and `private_key` must be in it",
  defaultBaseUrl: "https://us-speech.googleapis.com",
  plan: planGoogleSpeech,
  transcribe: (plan, audio, io) =>
    fitsRequest(plan, audio) ? recognize(plan, audio, io) : transcribeRemotely(googleSpeechRemote, plan, audio, io),
  remote: googleSpeechRemote,
  normalise: normaliseGoogleSpeech,
};

const locationReply = z.object({
  name: z.string(),
  metadata: z
    .object({
      languages: z.object({
        models: z.record(z.string(), z.object({ modelFeatures: z.record(z.string(), z.unknown()).nullish() })),
      }),
    })
    .nullish()
    .catch(null),
});

/** A request that its client role permits. Each location has its own models: one that is missing here may exist in another. */
export const googleSpeechProbe = accountProbe({
  path: "/v2/projects/{project}/locations/us",
  headers: () => ({}),
  listsModels: true,
  read: (body) => {
    const reply = locationReply.safeParse(body).data;
    if (reply === undefined) return undefined;
    const byLanguage = Object.values(reply.metadata?.languages.models ?? {});
    const names = new Set(byLanguage.flatMap(({ modelFeatures }) => Object.keys(modelFeatures ?? {})));
    return names.size === 0 ? null : { models: [...names].map((id) => ({ id, alias: null })), isWhole: false };
  },
  send: (io, request) => {
    // A cached token would hide that the key was revoked.
    forgetGoogleToken(io);
    return sendToSpeech(io, { ...request, path: inProject(request.path, io) });
  },
});

function bucketOf(settings: Readonly<Record<string, unknown>>): string | null {
  return textSetting(settings, "bucket");
}

function textSetting(settings: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = settings[name];
  return typeof value === "string" ? value : null;
}

/** Redaction is another Google product, and streaming exists only over gRPC. */
function canSend(feature: Feature): boolean {
  return !feature.startsWith("redaction.") && feature !== "streaming";
}

function planGoogleSpeech(request: SpeechRequest, target: SpeechTarget): PlanResult {
  const missing = unmetFeatures(request, target.speech, canSend);
  if (missing.length > 0) return { ok: false, missing };
  const location = textSetting(target.settings, "location") ?? "us";
  // A service account's project is in its key, which a plan cannot read.
  const project = textSetting(target.settings, "project") ?? "{project}";
  const config = {
    autoDecodingConfig: {},
    model: target.model,
    languageCodes: languageCodes(request.language, target),
    features: features(request, target),
    ...(request.keyterms.length > 0 ? { adaptation: adaptation(request.keyterms) } : {}),
    ...(request.toLanguage === null ? {} : { translationConfig: { targetLanguage: googleLocale(request.toLanguage) } }),
  };
  const plan: SpeechPlan = {
    kind: "json",
    path: `/v2/projects/${project}/locations/${location}/recognizers/_:${needsBatch(request, target) ? "batchRecognize" : "recognize"}`,
    body: { config, ...batchOutput(target) },
  };
  return { ok: true, plan, dropped: droppedPreferences(request, target) };
}

/** chirp_3 returns word times only in a batch. */
function needsBatch(request: SpeechRequest, target: SpeechTarget): boolean {
  return request.words && !hasWordsInline(target) && bucketOf(target.settings) !== null;
}

function hasWordsInline({ model }: SpeechTarget): boolean {
  return model !== "chirp_3";
}

/** Sent with a batch and omitted from a single request. The object's name is generated at the upload. */
function batchOutput(target: SpeechTarget): object {
  const bucket = bucketOf(target.settings);
  if (bucket === null) return {};
  return { files: [{ uri: `gs://${bucket}/` }], recognitionOutputConfig: { inlineResponseConfig: {} } };
}

function languageCodes(language: LanguageInForce, target: SpeechTarget): readonly string[] {
  switch (language.kind) {
    case "asked":
    case "default":
      return [googleLocale(language.tag)];
    case "auto":
      return ["auto"];
    case "detect":
      return [supportsPreference(target, "detect_language") ? "auto" : "en-US"];
  }
}

function features(request: SpeechRequest, target: SpeechTarget): object {
  // A segment begins with its first word, or, where only batches have word times, at the end of the previous one.
  const words = request.words || (hasWordsInline(target) && (request.segments || request.diarization));
  return {
    // Punctuation is on by default, as other providers do it by default.
    ...(request.smartFormatting === false ? {} : { enableAutomaticPunctuation: true }),
    ...(words ? { enableWordTimeOffsets: true } : {}),
    // Its limits on the number of speakers are "not currently used".
    ...(request.diarization ? { diarizationConfig: {} } : {}),
    ...(request.multichannel ? { multiChannelMode: "SEPARATE_RECOGNITION_PER_CHANNEL" } : {}),
    ...(request.profanityFilter ? { profanityFilter: true } : {}),
    ...(request.prompt !== null && supportsPreference(target, "prompt")
      ? { customPromptConfig: { customPrompt: request.prompt } }
      : {}),
  };
}

function adaptation(terms: readonly string[]): object {
  return { phraseSets: [{ inlinePhraseSet: { phrases: terms.map((value) => ({ value })) } }] };
}

function droppedPreferences(request: SpeechRequest, target: SpeechTarget): readonly Preference[] {
  const list: Preference[] = [];
  if (request.language.kind === "detect" && !supportsPreference(target, "detect_language"))
    list.push("detect_language");
  if (request.speakerCountHint !== null) list.push("speaker_count_hint");
  if (request.prompt !== null && !supportsPreference(target, "prompt")) list.push("prompt");
  return list;
}

function normaliseGoogleSpeech(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
): ProviderTranscript {
  const { text, words, segments, channels, language, seconds, requestId } = readGoogleReply(
    raw.body,
    request.multichannel,
  );
  const planned = planGoogleSpeech(request, target);
  const requestBody = planned.ok && planned.plan.kind === "json" ? JSON.stringify(planned.plan.body) : "";
  return {
    text,
    language,
    languageConfidence: null,
    segments: request.segments || request.diarization || request.multichannel ? segments : [],
    words,
    providerSeconds: seconds,
    providerRequestId: plainId(requestId),
    receipts: receiptsFor(
      request,
      audio,
      { text, words, segments, channels, language, wasSent: (feature) => wasSent(feature, requestBody) },
      supportsPreference(target, "detect_language"),
    ),
  };
}

const PARAMETERS: { readonly [F in Feature]?: string } = {
  keyterms: '"inlinePhraseSet":{',
  profanity_filter: '"profanityFilter":true',
  translation: '"translationConfig":{',
};

function wasSent(feature: Feature, requestBody: string): boolean {
  const parameter = PARAMETERS[feature];
  return parameter !== undefined && requestBody.includes(parameter);
}
