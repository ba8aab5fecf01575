// Audio capabilities of Gemini's models, as data (ai.google.dev, checked 2026-11-20; providers/matrix.json).
import { GEMINI_CHAT_MODELS } from "./gemini-chat-models.ts";
import { MASKED_BY_GATEWAY, SPLIT_BY_GATEWAY } from "../gateway-features.ts";
import { audioBytesWithin } from "../wire/json-audio.ts";
import type { SpeechModel } from "../provider.ts";

const INLINE_BYTES = audioBytesWithin(20_000_000);

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

export const GEMINI_AUDIO_MODELS: Readonly<Record<string, SpeechModel>> = {
  "gemini-3.5-transcribe": TRANSCRIBE,
  ...Object.fromEntries(
    Object.entries(GEMINI_CHAT_MODELS)
      .filter(([, { features }]) => features.includes("audio_parts"))
      .map(([name]) => [name, GENERAL]),
  ),
};
