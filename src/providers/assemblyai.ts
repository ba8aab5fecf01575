// AssemblyAI, pre-recorded: upload, submit, poll, delete (assemblyai.com/docs, checked 2026-11-20). Every option of a run is
// repeated in its transcript, so what was silently left out shows. Streams go over a socket, to models of their own.
import { z } from "zod";
import type { Feature, Preference } from "../contract/features.ts";
import { primarySubtag } from "../lib/text/primary-subtag.ts";
import { takes, unmetFeatures } from "./asked-features.ts";
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
} from "./provider.ts";
import { receiptsFor, saidInText } from "./receipts.ts";
import { transcribeRemotely } from "./run-remote.ts";

export const assemblyai: SpeechProvider = {
  kind: "assemblyai",
  models: ASSEMBLYAI_MODELS,
  settings: z.strictObject({}),
  defaultBaseUrl: "https://api.assemblyai.com",
  plan: planAssemblyAi,
  transcribe: (plan, audio, io) => transcribeRemotely(assemblyaiRemote, plan, audio, io),
  stream: streamAssemblyAi,
  remote: assemblyaiRemote,
  normalise: normaliseAssemblyAi,
};

/** Translation is an add-on that answers with a text alone, and streams are planned elsewhere. */
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
    // A single model: with a list, the provider would choose, and its limits would be another's.
    speech_models: [target.model],
    ...languageOption(request.language, target, dropped),
    ...speakerOptions(request, target, dropped),
    ...(request.multichannel ? { multichannel: true } : {}),
    ...vocabularyOptions(request, target, dropped),
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
      if (takes(target, "detect_language")) return { language_detection: true };
      dropped.push("detect_language");
      return {};
    case "auto":
      return { language_detection: true };
  }
}

/** Where it spells a language in its own way. */
const SPELLED: Readonly<Record<string, string>> = { "en-us": "en_us", "en-gb": "en_uk", "en-au": "en_au", jv: "jw" };

function languageCode(tag: string): string {
  const primary = primarySubtag(tag);
  return SPELLED[tag.toLowerCase()] ?? SPELLED[primary] ?? primary;
}

/** A hint is a bound from above: an exact count that is wrong spoils the labels. */
function speakerOptions(request: SpeechRequest, target: SpeechTarget, dropped: Preference[]): object {
  const { diarization, speakerCountHint } = request;
  if (speakerCountHint !== null && !takes(target, "speaker_count_hint")) dropped.push("speaker_count_hint");
  if (!diarization) return {};
  const bounded = speakerCountHint !== null && takes(target, "speaker_count_hint");
  return {
    speaker_labels: true,
    ...(bounded ? { speaker_options: { max_speakers_expected: speakerCountHint } } : {}),
  };
}

const MAX_PROMPT_WORDS = 1500;

/** Terms and prompt exclude each other; the terms are required, the prompt is a preference. */
function vocabularyOptions(request: SpeechRequest, target: SpeechTarget, dropped: Preference[]): object {
  const { keyterms, prompt } = request;
  const fits =
    prompt !== null &&
    takes(target, "prompt") &&
    keyterms.length === 0 &&
    prompt.trim().split(/\s+/u).length <= MAX_PROMPT_WORDS;
  if (prompt !== null && !fits) dropped.push("prompt");
  if (keyterms.length > 0) return { keyterms_prompt: keyterms };
  return fits ? { prompt } : {};
}

/** On unless turned off, and redaction works on formatted text only. */
function formattingOptions(request: SpeechRequest, target: SpeechTarget, dropped: Preference[]): object {
  const { smartFormatting, redaction } = request;
  if (smartFormatting === null) return {};
  const free = smartFormatting || redaction.length === 0;
  if (!takes(target, "smart_formatting") || !free) {
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
      // Without speakers or channels there are no utterances; the gateway makes segments of the words.
      words,
      segments: segments.length > 0 ? segments : words,
      ...(request.stream
        ? { wasSent: (feature: Feature) => wasSent(feature, request, target) }
        : { grade: "echoed", wasSent: (feature: Feature) => wasEchoed(feature, request, reply.echo) }),
    },
    takes(target, "detect_language"),
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
  return { feature: "model", grade: "echoed", delivered: echo.speech_model_used === target.model };
}

/** A socket repeats nothing. Planned anew, for planning is pure: the receipt is read off the parameters. */
function wasSent(feature: Feature, request: SpeechRequest, target: SpeechTarget): boolean {
  const planned = planAssemblyAiStream(request, target);
  if (!planned.ok || planned.plan.kind !== "raw") return false;
  const has = (name: string): boolean =>
    planned.plan.kind === "raw" && planned.plan.query.some(([each]) => each === name);
  return feature === "streaming" ? has("format_turns") : feature === "keyterms" && has("keyterms_prompt");
}

function wasEchoed(feature: Feature, request: SpeechRequest, echo: AssemblyAiEcho): boolean {
  if (feature === "keyterms") return request.keyterms.every((term) => echo.keyterms_prompt?.includes(term) === true);
  if (feature === "profanity_filter") return echo.filter_profanity === true;
  const group = request.redaction.find((each) => feature === `redaction.${each}`);
  if (group === undefined || echo.redact_pii !== true) return false;
  return REDACTION_POLICIES[group].every((policy) => echo.redact_pii_policies?.includes(policy) === true);
}
