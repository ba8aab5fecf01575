// Mistral's transcription models that are known without a declaration (docs.mistral.ai, checked 2026-11-26). They imply the dialect `mistral`.
import { MASKED_BY_GATEWAY, SPLIT_BY_GATEWAY } from "../gateway-features.ts";
import type { ModelLife } from "../model-life.ts";
import { notOfferedModel } from "../not-offered.ts";
import type { CataloguedSpeechModel, SpeechModel } from "../provider.ts";

const VOXTRAL_3: SpeechModel = {
  features: {
    diarization: { support: "native", grade: "shown" },
    "timestamps.word": { support: "native", grade: "shown" },
    "timestamps.segment": { support: "native", grade: "shown" },
    keyterms: { support: "native", grade: "sent" },
    multichannel: SPLIT_BY_GATEWAY,
    profanity_filter: MASKED_BY_GATEWAY,
  },
  preferences: ["smart_formatting", "language"],
  // `^[^,\s]+$` for each item, at most 100. Sizes and durations are not verified.
  limits: { keyterms: { maxTerms: 100, maxTermWords: 1, forbiddenCharacters: [","] } },
  languages: "any",
  defaultLanguage: "auto",
};

const ALIAS: ModelLife = {
  verifiedOn: "2026-11-13",
  source: "npm @ai-sdk/mistral@4.0.87; docs.mistral.ai (an alias, which moves with its minor versions)",
};
const PINNED: ModelLife = { verifiedOn: "2026-11-13", source: "npm @ai-sdk/mistral@4.0.87; docs.mistral.ai" };

export const VOXTRAL_MODELS: Readonly<Record<string, CataloguedSpeechModel>> = {
  "voxtral-mini-transcribe-3": { ...VOXTRAL_3, life: ALIAS },
  "voxtral-mini-transcribe-3-0": { ...VOXTRAL_3, life: PINNED },
  "voxtral-small-transcribe-3": { ...VOXTRAL_3, life: ALIAS },
  "voxtral-small-transcribe-3-0": { ...VOXTRAL_3, life: PINNED },
};

const REALTIME = notOfferedModel(
  {
    verifiedOn: "2026-11-01",
    source:
      "livekit-plugins-mistralai 1.8.10 for Python; https://micdrop.dev/docs/speech-to-text/mistral (second-hand)",
  },
  {
    since: "2026-11-27",
    reason: "there is no adapter for Mistral's realtime transcription, whose messages are known second-hand only",
  },
);

export const VOXTRAL_NOT_OFFERED: Readonly<Record<string, CataloguedSpeechModel>> = {
  "voxtral-mini-transcribe-realtime-3": REALTIME,
  "voxtral-mini-transcribe-realtime-3-0": REALTIME,
};
