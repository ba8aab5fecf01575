// OpenAI's transcription models, each with its fields of the audio protocol (platform.openai.com, checked 2026-11-26).
import { z } from "zod";
import type { Feature } from "../../contract/features.ts";
import { MASKED_BY_GATEWAY, SPLIT_BY_GATEWAY } from "../gateway-features.ts";
import { normaliseAudio, planAudio, transcribeAudio } from "./openai-audio.ts";
import { type Dialect } from "./openai-audio-dialects.ts";
import { streamAudio } from "./openai-audio-stream.ts";
import { liveFamily, openAiLiveModels } from "./openai-live-models.ts";
import { normaliseOpenAiLive, planOpenAiLive, streamOpenAiLive } from "./openai-live.ts";
import type { ModelLife } from "../model-life.ts";
import type {
  CataloguedSpeechModel,
  PlanResult,
  SpeechModel,
  SpeechProvider,
  SpeechRequest,
  SpeechTarget,
} from "../provider.ts";

/** The limit of 26,214,400 applies to the whole multipart body: 64 KiB are reserved for the other fields. */
const MAX_BYTES = 26_214_400 - 65_536;

/** guides/speech-to-text, "Supported languages". */
const LANGUAGES =
  "af ar az be bg bs ca cs cy da de el en es et fa fi fr gl he hi hr hu hy id is it ja kk kn ko lt lv mi mk mr ms ne nl no pl pt ro ru sk sl sr sv sw ta th tl tr uk ur vi zh".split(
    " ",
  );

/** All models except whisper-1, which accepts `stream` and ignores it. */
const STREAMING = { streaming: { support: "native", grade: "shown" } } as const;

const PLAIN: SpeechModel = {
  features: { multichannel: SPLIT_BY_GATEWAY, profanity_filter: MASKED_BY_GATEWAY },
  preferences: ["smart_formatting", "prompt", "language"],
  limits: { maxBytes: MAX_BYTES },
  languages: LANGUAGES,
  languagesFrom: "the list of its guide to speech to text",
  defaultLanguage: "auto",
};

const WHISPER_1: SpeechModel = {
  ...PLAIN,
  features: {
    ...PLAIN.features,
    "timestamps.word": { support: "native", grade: "shown" },
    "timestamps.segment": { support: "native", grade: "shown" },
    keyterms: { support: "weak", grade: "sent" },
    // Only into English.
    translation: { support: "native", grade: "sent" },
  },
  preferences: [...PLAIN.preferences, "detect_language"],
  // Only the last 224 tokens of a prompt are read.
  limits: { maxBytes: MAX_BYTES, keyterms: { maxTotalTokens: 224 } },
  excludes: [["translation", "timestamps.word"]],
};

const GPT_4O: SpeechModel = {
  ...PLAIN,
  features: { ...PLAIN.features, ...STREAMING, keyterms: { support: "weak", grade: "sent" } },
  limits: { maxBytes: MAX_BYTES, maxSeconds: 1500 },
};

const GPT_4O_DIARIZE: SpeechModel = {
  ...PLAIN,
  features: {
    ...PLAIN.features,
    ...STREAMING,
    diarization: { support: "native", grade: "shown" },
    "timestamps.segment": { support: "native", grade: "shown" },
  },
  preferences: ["smart_formatting", "language"],
  limits: { maxBytes: MAX_BYTES, maxSeconds: 1400 },
};

/** No times, speakers, translation or log probabilities. A limit of its duration is not documented. */
const GPT_TRANSCRIBE: SpeechModel = {
  ...PLAIN,
  features: { ...PLAIN.features, ...STREAMING, keyterms: { support: "native", grade: "sent" } },
  preferences: [...PLAIN.preferences, "detect_language"],
};

const SDK = "npm openai@7.57.0, audio.ts";

/** Notice of 2026-08-26 (second-hand). It also names gpt-live-transcribe, which accepts live audio and no files. */
function endingLife(lacks: readonly Feature[]): ModelLife {
  return {
    verifiedOn: "2026-11-13",
    source: SDK,
    deprecatedOn: "2026-08-26",
    endsOn: { date: "2027-02-26", evidence: "vendor" },
    replacedBy: [{ model: "gpt-transcribe", lacks }],
  };
}

const MODELS: Readonly<Record<string, CataloguedSpeechModel>> = {
  "gpt-transcribe": { ...GPT_TRANSCRIBE, life: { verifiedOn: "2026-11-13", source: SDK } },
  "gpt-4o-transcribe": { ...GPT_4O, life: endingLife([]) },
  "gpt-4o-mini-transcribe": { ...GPT_4O, life: endingLife([]) },
  "gpt-4o-mini-transcribe-2025-12-15": { ...GPT_4O, life: endingLife([]) },
  "gpt-4o-mini-transcribe-2025-03-20": {
    ...GPT_4O,
    life: {
      verifiedOn: "2026-11-13",
      source: `${SDK} (unverified: neither among its models nor among those that end)`,
      replacedBy: [{ model: "gpt-transcribe", lacks: [] }],
    },
  },
  "gpt-4o-transcribe-diarize": { ...GPT_4O_DIARIZE, life: endingLife(["diarization", "timestamps.segment"]) },
  "whisper-1": { ...WHISPER_1, life: endingLife(["timestamps.word", "timestamps.segment", "translation"]) },
  ...openAiLiveModels(LANGUAGES),
};

/** whisper-1, and the default for other servers with OpenAI's protocol. */
export const OPENAI_DIALECT: Dialect = {
  transcribePath: "/audio/transcriptions",
  translate: { path: "/audio/translations" },
  languageField: "language",
  detectValue: null,
  silentLanguage: null,
  languageIn: "verbose_json",
  timedFormat: "verbose_json",
  words: "granularity",
  granularityField: "timestamp_granularities[]",
  diarization: null,
  keyterms: "prompt",
  takesPrompt: true,
  streams: false,
  constantFields: [],
};

const GPT_4O_DIALECT: Dialect = {
  ...OPENAI_DIALECT,
  streams: true,
  translate: null,
  languageIn: null,
  timedFormat: null,
  words: null,
};

const GPT_4O_DIARIZE_DIALECT: Dialect = {
  ...GPT_4O_DIALECT,
  diarization: { format: "diarized_json" },
  keyterms: null,
  takesPrompt: false,
  // Documented for audio above 30 s, but clips of 29 s were refused without it.
  constantFields: [["chunking_strategy", "auto"]],
};

const GPT_TRANSCRIBE_DIALECT: Dialect = {
  ...GPT_4O_DIALECT,
  languageField: "languages[]",
  languageIn: "json",
  keyterms: "keywords[]",
};

const knownSpeaker = z.strictObject({
  name: z.string().min(1).max(64).describe("Any name; answers still number the speakers."),
  reference: z
    .string()
    .regex(/^data:audio\/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/u, "must be a data URL of audio")
    .describe("A sample of that voice, 2 to 10 seconds, as a data URL."),
});

const settings = z.strictObject({
  known_speakers: z
    .array(knownSpeaker)
    .max(4)
    .describe("gpt-4o-transcribe-diarize: sample recordings of known speakers; they count towards its 25 MiB.")
    .optional(),
});
const readSettings = settings.strip().catch({});

/** The voice samples are sent with each file and count against the one limit. */
function configureModel(name: string, model: SpeechModel, settings: Readonly<Record<string, unknown>>): SpeechModel {
  const { known_speakers: speakers = [] } = readSettings.parse(settings);
  if (!isDiarizer(name) || speakers.length === 0) return model;
  const bytes = speakers.reduce((sum, speaker) => sum + Buffer.byteLength(speaker.name) + speaker.reference.length, 0);
  return { ...model, limits: { ...model.limits, maxBytes: Math.max(0, MAX_BYTES - bytes) } };
}

export const openai: SpeechProvider = {
  kind: "openai",
  models: MODELS,
  settings,
  configured: configureModel,
  defaultBaseUrl: "https://api.openai.com/v1",
  plan: (request, target) => (isLive(target) ? planOpenAiLive : planForFiles)(request, target),
  transcribe: transcribeAudio,
  stream: (plan, audio, io) => (plan.kind === "json" ? streamOpenAiLive : streamAudio)(plan, audio, io),
  normalise: (raw, request, target, audio) =>
    isLive(target)
      ? normaliseOpenAiLive(raw, request, target, audio)
      : normaliseAudio(raw, request, target, audio, dialectOf(target)),
};

function isLive({ model }: SpeechTarget): boolean {
  return liveFamily(model) !== null;
}

function planForFiles(request: SpeechRequest, target: SpeechTarget): PlanResult {
  return planAudio(request, target, dialectOf(target));
}

/** By name, including dated snapshots (`gpt-4o-mini-transcribe-2025-12-15`) that a configuration declares. */
function dialectOf(target: SpeechTarget): Dialect {
  const { model } = target;
  if (isDiarizer(model)) return withKnownSpeakers(GPT_4O_DIARIZE_DIALECT, target);
  if (model.startsWith("gpt-4o")) return GPT_4O_DIALECT;
  return model.startsWith("gpt-transcribe") ? GPT_TRANSCRIBE_DIALECT : OPENAI_DIALECT;
}

function isDiarizer(model: string): boolean {
  return model.startsWith("gpt-4o-transcribe-diarize");
}

/** Names and samples are two lists in the same order. Settings were validated with the configuration. */
function withKnownSpeakers(dialect: Dialect, target: SpeechTarget): Dialect {
  const { known_speakers: speakers = [] } = readSettings.parse(target.settings);
  return {
    ...dialect,
    constantFields: [
      ...dialect.constantFields,
      ...speakers.map(({ name }) => ["known_speaker_names[]", name] as const),
      ...speakers.map(({ reference }) => ["known_speaker_references[]", reference] as const),
    ],
  };
}
