// Capabilities of OpenAI's models for live audio alone, as data (developers.openai.com, guide to realtime transcription, checked 2026-11-26).
import type { CataloguedSpeechModel, SpeechModel } from "../provider.ts";

/** The guide refuses what it calls unsafe characters (livekit/agents#6613). The number of key terms is not documented. */
const FORBIDDEN_IN_KEYTERMS = ["<", ">", "\r", "\n"];

const SOURCE = "npm openai@7.57.0, resources/realtime/realtime.ts (unverified: its languages and its longest session)";

/** Its answers have no times, no speakers, no channels and no language. */
function liveModel(languages: readonly string[]): SpeechModel {
  return {
    features: { streaming: { support: "native", grade: "shown" } },
    preferences: ["smart_formatting", "language"],
    // Files are left to gpt-transcribe.
    limits: { formats: [] },
    languages,
    languagesFrom: "the list of its guide to speech to text; live models have none of their own",
    defaultLanguage: "auto",
    live: ["pcm_s16le"],
    streamsOnly: true,
  };
}

export function openAiLiveModels(languages: readonly string[]): Readonly<Record<string, CataloguedSpeechModel>> {
  const plain = liveModel(languages);
  return {
    "gpt-live-transcribe": {
      ...plain,
      features: { ...plain.features, keyterms: { support: "native", grade: "sent" } },
      preferences: [...plain.preferences, "prompt"],
      limits: { ...plain.limits, keyterms: { forbiddenCharacters: FORBIDDEN_IN_KEYTERMS } },
      life: { verifiedOn: "2026-11-13", source: SOURCE },
    },
    "gpt-realtime-whisper": { ...plain, life: { verifiedOn: "2026-11-13", source: SOURCE } },
  };
}

/** By name, including dated snapshots that a configuration declares. Null: a model for files. */
export function liveFamily(model: string): "transcribe" | "whisper" | null {
  if (model.startsWith("gpt-live-transcribe")) return "transcribe";
  return model.startsWith("gpt-realtime-whisper") ? "whisper" : null;
}
