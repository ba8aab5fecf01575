// The adapter of servers with OpenAI's audio protocol: whisper.cpp, speaches, vLLM, Groq, Mistral and others that are declared. A model is assumed to return
// only plain text. Its declaration in the configuration adds other features.
import { z } from "zod";
import { MASKED_BY_GATEWAY, SPLIT_BY_GATEWAY } from "../gateway-features.ts";
import type { Io } from "../io.ts";
import { audioRequest, normaliseAudio, planAudio } from "./openai-audio.ts";
import { type Dialect } from "./openai-dialect.ts";
import { OPENAI_DIALECT } from "./openai.ts";
import type { RawTranscript, SpeechAudio, SpeechPlan, SpeechProvider, SpeechTarget } from "../provider.ts";
import { readJsonReply } from "../wire/read-reply.ts";
import { asNoSuchPath, forgetInferencePlace, inferencePlace, STOCK_PATH } from "./whisper-cpp.ts";

const DIALECT_NAMES = ["openai", "whisper-cpp", "speaches", "vllm", "groq", "mistral"] as const;
type DialectName = (typeof DIALECT_NAMES)[number];

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
  /** docs.mistral.ai: one JSON format, words instead of segments, its own key terms parameter, no translation. */
  mistral: {
    ...OPENAI_DIALECT,
    translate: null,
    languageOrTimes: true,
    languageIn: "json",
    timedFormat: "only",
    words: "segments",
    granularityField: "timestamp_granularities",
    diarization: { field: "diarize" },
    keyterms: "context_bias",
    takesPrompt: false,
  },
};

const settings = z.strictObject({
  dialect: z.enum(DIALECT_NAMES).describe("Server software (default: `openai`).").optional(),
  transcribe_path: z
    .string()
    .regex(/^\/[A-Za-z0-9_./-]*$/)
    .describe("Path for audio below the base URL, if it differs from the dialect's default.")
    .optional(),
});
const readSettings = settings.strip().catch({});

export const openaiCompatible: SpeechProvider = {
  kind: "openai-compatible",
  models: {},
  unknownModel: {
    features: { multichannel: SPLIT_BY_GATEWAY, profanity_filter: MASKED_BY_GATEWAY },
    preferences: ["smart_formatting", "language"],
    limits: {},
    languages: "any",
    defaultLanguage: "auto",
  },
  settings,
  defaultBaseUrl: null,
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
  const { dialect, transcribe_path: transcribePath } = readSettings.parse(target.settings);
  const base = DIALECTS[dialect ?? "openai"];
  return transcribePath === undefined ? base : { ...base, transcribePath };
}
