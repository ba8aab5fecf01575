// The adapter of servers with OpenAI's audio protocol: whisper.cpp, speaches, vLLM, Groq, Mistral and others that are declared. A model is assumed to return
// only plain text. Its declaration in the configuration adds other features.
import { z } from "zod";
import { MODEL_NAMES } from "../answered-model.ts";
import { MASKED_BY_GATEWAY, SPLIT_BY_GATEWAY } from "../gateway-features.ts";
import type { Io } from "../io.ts";
import { audioRequest, normaliseAudio, planAudio } from "./openai-audio.ts";
import { type Dialect } from "./openai-audio-dialects.ts";
import { OPENAI_DIALECT } from "./openai.ts";
import type { RawTranscript, SpeechAudio, SpeechModel, SpeechPlan, SpeechProvider, SpeechTarget } from "../provider.ts";
import { readJsonReply } from "../wire/read-reply.ts";
import { VOXTRAL_MODELS, VOXTRAL_NOT_OFFERED } from "./voxtral-models.ts";
import { asNoSuchPath, forgetInferencePlace, inferencePlace, STOCK_PATH } from "./whisper-cpp.ts";

const DIALECT_NAMES = ["openai", "whisper-cpp", "speaches", "vllm", "groq", "mistral"] as const;
type DialectName = (typeof DIALECT_NAMES)[number];

/** docs.mistral.ai: one JSON format, words instead of segments, its own key terms parameter, no translation. */
const VOXTRAL_3: Dialect = {
  ...OPENAI_DIALECT,
  translate: null,
  languageIn: "json",
  timedFormat: "only",
  words: "segments",
  granularityField: "timestamp_granularities",
  diarization: { field: "diarize" },
  keyterms: "context_bias",
  takesPrompt: false,
  modelNames: MODEL_NAMES.mistral,
};

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  openai: OPENAI_DIALECT,
  /** ggml-org/whisper.cpp examples/server: one path for both tasks, English by default, words as tokens inside segments. */
  "whisper-cpp": {
    ...OPENAI_DIALECT,
    transcribePath: STOCK_PATH,
    translate: { field: "translate" },
    detectValue: "auto",
    silentLanguage: "en",
    words: "tokens",
  },
  /** speaches-ai/speaches: faster-whisper with key terms and (if pyannote is installed) speakers. */
  speaches: { ...OPENAI_DIALECT, diarization: { field: "diarization" }, keyterms: "hotwords" },
  /** vllm-project/vllm: accepts word granularity and ignores it, so the receipt fails instead of the plan. */
  vllm: { ...OPENAI_DIALECT, keyterms: "hotwords" },
  /** console.groq.com: Whisper as OpenAI serves it, at api.groq.com/openai/v1. */
  groq: OPENAI_DIALECT,
  mistral: { ...VOXTRAL_3, languageOrTimes: true },
};

const settings = z.strictObject({
  dialect: z.enum(DIALECT_NAMES).describe("Server software (default: `openai`).").optional(),
  transcribe_path: z
    .string()
    .regex(/^\/[A-Za-z0-9_./-]*$/)
    .describe("Path for audio below the base URL, if it differs from the dialect's default.")
    .optional(),
  answers_as: z
    .string()
    .min(1)
    .max(200)
    .describe("Name of the model in the server's answers, if it is another one.")
    .optional(),
});
const readSettings = settings.strip().catch({});

const UNKNOWN: SpeechModel = {
  features: { multichannel: SPLIT_BY_GATEWAY, profanity_filter: MASKED_BY_GATEWAY },
  preferences: ["smart_formatting", "language"],
  limits: {},
  languages: "any",
  defaultLanguage: "auto",
};

export const openaiCompatible: SpeechProvider = {
  kind: "openai-compatible",
  models: VOXTRAL_MODELS,
  notOffered: VOXTRAL_NOT_OFFERED,
  unknownModel: UNKNOWN,
  // Another server's model of this name is unknown.
  configured: (name, model, given) => (dialectName(name, given) === "mistral" ? model : UNKNOWN),
  settings,
  defaultBaseUrl: null,
  isAnyServer: true,
  plan: (request, target) => planAudio(request, target, dialectOf(target)),
  transcribe,
  normalise: (raw, request, target, audio) => normaliseAudio(raw, request, target, audio, dialectOf(target)),
};

async function transcribe(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RawTranscript> {
  const request = audioRequest(plan, audio, io);
  const isLookedFor = request.path === STOCK_PATH;
  const reply = await io.send(isLookedFor ? { ...request, ...(await inferencePlace(io)) } : request);
  // The server may use another path after a restart.
  if (isLookedFor && reply.status === 404) forgetInferencePlace(io);
  try {
    return readJsonReply(reply, io.credential);
  } catch (error) {
    throw asNoSuchPath(error);
  }
}

/** Settings were validated with the configuration. Invalid ones fall back to the protocol as published. */
function dialectOf(target: SpeechTarget): Dialect {
  const { transcribe_path: transcribePath } = readSettings.parse(target.settings);
  const name = dialectName(target.model, target.settings);
  const base = name === "mistral" && isVoxtral3(target.model) ? VOXTRAL_3 : DIALECTS[name];
  return transcribePath === undefined ? base : { ...base, transcribePath };
}

function dialectName(model: string, given: Readonly<Record<string, unknown>>): DialectName {
  const isMistral = Object.hasOwn(VOXTRAL_MODELS, model) || Object.hasOwn(VOXTRAL_NOT_OFFERED, model);
  return readSettings.parse(given).dialect ?? (isMistral ? "mistral" : "openai");
}

/** Earlier models refuse a language together with times (AI SDK mistral 4.0.87). */
function isVoxtral3(model: string): boolean {
  return /^voxtral-(?:mini|small)-transcribe-3(?:-|$)/u.test(model);
}
