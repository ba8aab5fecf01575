// Audio capabilities of Gemini's models, as data (ai.google.dev, checked 2026-11-26; providers/matrix.json).
import { GEMINI_CHAT_MODELS } from "./gemini-chat-models.ts";
import { MASKED_BY_GATEWAY, SPLIT_BY_GATEWAY } from "../gateway-features.ts";
import type { ModelLife } from "../model-life.ts";
import { notOfferedModel } from "../not-offered.ts";
import { audioBytesWithin } from "../wire/json-audio.ts";
import type { CataloguedSpeechModel, SpeechModel } from "../provider.ts";

/** "100 MB" for a request since 2026-01-08 (changelog). That the Interactions API has the same limit is unverified. */
const INLINE_BYTES = audioBytesWithin(100_000_000);

/** The transcription model of the Interactions API. Its answers never name the language. */
const TRANSCRIBE: SpeechModel = {
  features: {
    diarization: { support: "native", grade: "shown" },
    "timestamps.word": { support: "native", grade: "shown" },
    "timestamps.segment": { support: "exact", grade: "shown" },
    keyterms: { support: "native", grade: "sent" },
    profanity_filter: MASKED_BY_GATEWAY,
    multichannel: SPLIT_BY_GATEWAY,
  },
  preferences: ["language"],
  limits: {
    maxBytes: INLINE_BYTES,
    maxSeconds: 3_600,
    // "30 min with speakers or word timestamps". Segments are built from words.
    maxSecondsWith: { diarization: 1_800, "timestamps.word": 1_800, "timestamps.segment": 1_800 },
    formats: ["wav", "mp3", "m4a", "webm"],
    // Best with at most 100.
    keyterms: { maxTerms: 1_000 },
  },
  languages: "any",
  defaultLanguage: "auto",
};

/**
 * A general model with a prompt. Its output is generated text: times, speakers and redaction would be unverified claims, so none is declared. A word list or
 * profanity filter in a prompt is weak.
 */
export const GENERAL: SpeechModel = {
  features: {
    keyterms: { support: "weak", grade: "sent" },
    profanity_filter: { support: "weak", grade: "sent" },
    translation: { support: "native", grade: "sent" },
    multichannel: SPLIT_BY_GATEWAY,
  },
  preferences: ["prompt"],
  limits: { maxBytes: INLINE_BYTES, maxSeconds: 34_200, formats: ["wav", "mp3"] },
  languages: "any",
  defaultLanguage: "auto",
  translatesInto: "any",
};

export const GEMINI_AUDIO_MODELS: Readonly<Record<string, CataloguedSpeechModel>> = {
  "gemini-3.5-transcribe": {
    ...TRANSCRIBE,
    life: { verifiedOn: "2026-11-12", source: "npm @google/genai@3.3.0 (general availability unverified)" },
  },
  ...Object.fromEntries(
    Object.entries(GEMINI_CHAT_MODELS)
      .filter(([, { features }]) => features.includes("audio_parts"))
      .map(([name, { life }]) => [name, { ...GENERAL, life: audioLife(life) }]),
  ),
};

export const GEMINI_NOT_OFFERED: Readonly<Record<string, CataloguedSpeechModel>> = {
  "gemini-3.5-transcribe-live": notOfferedModel(
    {
      verifiedOn: "2026-11-12",
      source: "https://ai.google.dev/gemini-api/docs/live-api/live-transcribe (undated); npm @google/genai@3.3.0",
    },
    {
      since: "2026-11-27",
      reason: "there is no adapter for Google's Live API, whose messages are verified second-hand only",
    },
  ),
};

/** As chat models they lack other things in comparison with their successors than with audio, which is where all are alike. */
function audioLife({ replacedBy, ...life }: ModelLife): ModelLife {
  const hearing = (replacedBy ?? []).filter(({ model }) => GEMINI_CHAT_MODELS[model]?.features.includes("audio_parts"));
  return hearing.length === 0 ? life : { ...life, replacedBy: hearing.map(({ model }) => ({ model, lacks: [] })) };
}
