// The providers' list prices of speech models, as data for the documentation. Nothing is charged by them: what is charged is in `metering/price.ts`, which
// has one built-in price, and in the operator's `prices` [metering.price-built-in].

export interface SpeechListPrice {
  readonly usdPerAudioHour: string;
  /** Day of the evidence. */
  readonly asOf: string;
  readonly source: string;
  /** `vendor`: the provider's own page. */
  readonly evidence: "vendor" | "second_hand";
  /** Where another price applies, or where two sources disagree. */
  readonly note?: string;
}

const ASSEMBLYAI = {
  asOf: "2026-10-07",
  source: "readings of https://www.assemblyai.com/pricing",
  evidence: "second_hand",
} as const;
const DEEPGRAM = {
  asOf: "2026-08-01",
  source: "reading of https://deepgram.com/pricing",
  evidence: "second_hand",
} as const;
const OPENAI_OLD = { asOf: "2026-04-01", source: "readings of OpenAI's price list", evidence: "second_hand" } as const;
const MISTRAL = {
  asOf: "2026-11-13",
  source: "https://vercel.com/ai-gateway/models",
  evidence: "second_hand",
} as const;

/** Keyed by `kind/model`. */
export const SPEECH_LIST_PRICES: Readonly<Record<string, SpeechListPrice>> = {
  "assemblyai/universal-3-5-pro": { usdPerAudioHour: "0.21", ...ASSEMBLYAI },
  "assemblyai/universal-2": { usdPerAudioHour: "0.15", ...ASSEMBLYAI },
  "assemblyai/universal-3-6-pro": { usdPerAudioHour: "0.45", ...ASSEMBLYAI },
  "deepgram/nova-3": {
    usdPerAudioHour: "0.462",
    ...DEEPGRAM,
    note: "files; streams 0.288. A reading of 2026-05-05 has 0.258 for files",
  },
  "openai/gpt-transcribe": {
    usdPerAudioHour: "0.27",
    asOf: "2026-10-17",
    source: "https://developers.openai.com/api/docs/models/gpt-transcribe",
    evidence: "vendor",
  },
  "openai/gpt-live-transcribe": {
    usdPerAudioHour: "1.02",
    asOf: "2026-11-13",
    source: "https://developers.openai.com/api/docs/models/gpt-live-transcribe",
    evidence: "vendor",
    note: "0.017 a minute",
  },
  "openai/gpt-realtime-whisper": {
    usdPerAudioHour: "1.02",
    asOf: "2026-11-13",
    source: "https://developers.openai.com/api/docs/models/gpt-realtime-whisper",
    evidence: "vendor",
    note: "0.017 a minute",
  },
  "openai/gpt-4o-transcribe": { usdPerAudioHour: "0.36", ...OPENAI_OLD },
  "openai/gpt-4o-mini-transcribe": { usdPerAudioHour: "0.18", ...OPENAI_OLD },
  "openai-compatible/voxtral-mini-transcribe-3": { usdPerAudioHour: "0.21", ...MISTRAL },
  "openai-compatible/voxtral-small-transcribe-3": { usdPerAudioHour: "0.24", ...MISTRAL },
};
