// The adapter of AssemblyAI's pre-recorded API: upload, submit, poll, delete (assemblyai.com/docs, checked 2026-11-26). A transcript repeats every option of
// its run, so silently ignored ones are detected. Streams use a WebSocket and other models.
import { z } from "zod";
import type { Feature, Preference } from "../../contract/features.ts";
import { isSameModel, MODEL_NAMES, modelReceipt as receiptOfModel, reportedModel } from "../answered-model.ts";
import { primarySubtag } from "../../lib/text/primary-subtag.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { planAssemblyAiStream, streamAssemblyAi } from "./assemblyai-live.ts";
import { ASSEMBLYAI_MODELS } from "./assemblyai-models.ts";
import { REDACTION_POLICIES } from "./assemblyai-redaction.ts";
import { type AssemblyAiEcho, readAssemblyAiReply } from "./assemblyai-reply.ts";
import { assemblyaiRemote } from "./assemblyai-run.ts";
import type {
  LanguageInForce,
  PlanResult,
  ProviderTranscript,
  RawTranscript,
  Receipt,
  SpeechAudio,
  SpeechProvider,
  SpeechRequest,
  SpeechTarget,
} from "../provider.ts";
import { receiptsFor, saidInText } from "../receipts.ts";
import { transcribeRemotely } from "../wire/run-remote.ts";

const settings = z.strictObject({
  temperature: z
    .number()
    .min(0)
    .max(1)
    .describe("How random the result is; not for universal-2 (default: the provider's).")
    .optional(),
  remove_audio_tags: z
    .enum(["all", "speaker"])
    .describe("Removes tags such as [MUSIC] from the text; not for universal-2.")
    .optional(),
});
const readSettings = settings.strip().catch({});

export const assemblyai: SpeechProvider = {
  kind: "assemblyai",
  models: ASSEMBLYAI_MODELS,
  settings,
  defaultBaseUrl: "https://api.assemblyai.com",
  plan: planAssemblyAi,
  transcribe: (plan, audio, io) => transcribeRemotely(assemblyaiRemote, plan, audio, io),
  stream: streamAssemblyAi,
  remote: assemblyaiRemote,
  normalise: normaliseAssemblyAi,
};

/** Translation is an add-on that returns only text, and streams have their own plan. */
function canSend(feature: Feature): boolean {
  return feature !== "translation" && feature !== "streaming";
}

function planAssemblyAi(request: SpeechRequest, target: SpeechTarget): PlanResult {
  if (request.stream) return planAssemblyAiStream(request, target);
  const missing = [
    ...unmetFeatures(request, target.speech, canSend),
    ...(target.speech.streamsOnly === true ? (["batch"] as const) : []),
  ];
  if (missing.length > 0) return { ok: false, missing };
  const dropped: Preference[] = [];
  const body = {
    // One model: from a list the provider would choose, and the chosen model's limits could differ.
    speech_models: [target.model],
    ...languageOption(request.language, target, dropped),
    ...speakerOptions(request, target, dropped),
    ...(request.multichannel ? { multichannel: true } : {}),
    ...vocabularyOptions(request, target, dropped),
    ...samplingOptions(target),
    ...formattingOptions(request, target, dropped),
    ...(request.profanityFilter ? { filter_profanity: true } : {}),
    ...(request.redaction.length > 0
      ? { redact_pii: true, redact_pii_policies: policiesOf(request), redact_pii_sub: "entity_name" }
      : {}),
  };
  return { ok: true, plan: { kind: "json", path: "/v2/transcript", body }, dropped };
}

function languageOption(language: LanguageInForce, target: SpeechTarget, dropped: Preference[]): object {
  switch (language.kind) {
    case "asked":
    case "default":
      return { language_code: languageCode(language.tag) };
    case "detect":
      if (supportsPreference(target, "detect_language")) return { language_detection: true };
      dropped.push("detect_language");
      return {};
    case "auto":
      return { language_detection: true };
  }
}

/** Where its spelling of a language code differs. */
const SPELLED: Readonly<Record<string, string>> = { "en-us": "en_us", "en-gb": "en_uk", "en-au": "en_au", jv: "jw" };

function languageCode(tag: string): string {
  const primary = primarySubtag(tag);
  return SPELLED[tag.toLowerCase()] ?? SPELLED[primary] ?? primary;
}

/** A hint is sent as an upper bound: a wrong exact count spoils the labels. */
function speakerOptions(request: SpeechRequest, target: SpeechTarget, dropped: Preference[]): object {
  const { diarization, speakerCountHint } = request;
  if (speakerCountHint !== null && !supportsPreference(target, "speaker_count_hint"))
    dropped.push("speaker_count_hint");
  if (!diarization) return {};
  const hasHint = speakerCountHint !== null && supportsPreference(target, "speaker_count_hint");
  return {
    speaker_labels: true,
    ...(hasHint ? { speaker_options: { max_speakers_expected: speakerCountHint } } : {}),
  };
}

const MAX_PROMPT_WORDS = 1500;

/** Terms and prompt exclude each other. The terms are required, the prompt is a preference. */
function vocabularyOptions(request: SpeechRequest, target: SpeechTarget, dropped: Preference[]): object {
  const { keyterms, prompt } = request;
  const fits =
    prompt !== null &&
    supportsPreference(target, "prompt") &&
    keyterms.length === 0 &&
    prompt.trim().split(/\s+/u).length <= MAX_PROMPT_WORDS;
  if (prompt !== null && !fits) dropped.push("prompt");
  if (keyterms.length > 0) return { keyterms_prompt: keyterms };
  return fits ? { prompt } : {};
}

/** Settings may be those of a profile, which also apply to its targets that do not accept them. */
function samplingOptions({ model, settings: given }: SpeechTarget): object {
  return model === "universal-2" ? {} : readSettings.parse(given);
}

/** On by default, and redaction works only on formatted text. */
function formattingOptions(request: SpeechRequest, target: SpeechTarget, dropped: Preference[]): object {
  const { smartFormatting, redaction } = request;
  if (smartFormatting === null) return {};
  const free = smartFormatting || redaction.length === 0;
  if (!supportsPreference(target, "smart_formatting") || !free) {
    dropped.push("smart_formatting");
    return {};
  }
  return { punctuate: smartFormatting, format_text: smartFormatting };
}

function policiesOf(request: SpeechRequest): readonly string[] {
  return [...new Set(request.redaction.flatMap((group) => REDACTION_POLICIES[group]))];
}

function normaliseAssemblyAi(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
): ProviderTranscript {
  const reply = readAssemblyAiReply(raw.body, request);
  const words = saidInText(request, reply.text, reply.words);
  const segments = saidInText(request, reply.text, reply.segments);
  const receipts = receiptsFor(
    request,
    audio,
    {
      ...reply,
      // Without speakers or channels there are no utterances, so the gateway builds segments from the words.
      words,
      segments: segments.length > 0 ? segments : words,
      ...(request.stream
        ? { wasSent: (feature: Feature) => wasSent(feature, request, target) }
        : { grade: "echoed", wasSent: (feature: Feature) => wasEchoed(feature, request, reply.echo) }),
    },
    supportsPreference(target, "detect_language"),
  );
  return {
    text: reply.text,
    language: reply.language,
    languageConfidence: reply.languageConfidence,
    segments,
    words,
    providerSeconds: reply.seconds,
    providerRequestId: reply.id,
    receipts: request.stream ? receipts : [...receipts, modelReceipt(target, reply.echo)],
  };
}

function modelReceipt(target: SpeechTarget, echo: AssemblyAiEcho): Receipt {
  const { isTolerated: _, ...receipt } = receiptOfModel(reportedModel(echo.speech_model_used), (answered) =>
    isSameModel(MODEL_NAMES.assemblyai, target.model, answered),
  );
  return receipt;
}

/** A WebSocket session repeats no options, so the receipt is read from the parameters. Planning is pure and can be repeated. */
function wasSent(feature: Feature, request: SpeechRequest, target: SpeechTarget): boolean {
  const result = planAssemblyAiStream(request, target);
  if (!result.ok || result.plan.kind !== "raw") return false;
  const hasParameter = (name: string): boolean =>
    result.plan.kind === "raw" && result.plan.query.some(([each]) => each === name);
  return feature === "streaming"
    ? hasParameter("format_turns")
    : feature === "keyterms" && hasParameter("keyterms_prompt");
}

function wasEchoed(feature: Feature, request: SpeechRequest, echo: AssemblyAiEcho): boolean {
  if (feature === "keyterms") return request.keyterms.every((term) => echo.keyterms_prompt?.includes(term) === true);
  if (feature === "profanity_filter") return echo.filter_profanity === true;
  const group = request.redaction.find((each) => feature === `redaction.${each}`);
  if (group === undefined || echo.redact_pii !== true) return false;
  return REDACTION_POLICIES[group].every((policy) => echo.redact_pii_policies?.includes(policy) === true);
}
