// Requests, audio and golden rows as the provider tests write them down.
import type { Feature, Preference } from "../../../src/contract/features.ts";
import type { LanguageInForce, SpeechAudio, SpeechModel, SpeechRequest } from "../../../src/providers/provider.ts";

export type Parameter = readonly [string, string];

/** How one wish changes the wire request, against the model's base request. */
export interface Change {
  readonly path?: string;
  readonly added?: readonly Parameter[];
  readonly removed?: readonly Parameter[];
}

/** One model's wire requests as the provider's documentation has them; never copied from what the adapter sends. */
export interface GoldenModel {
  readonly model: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** For models that only a configuration declares. */
  readonly declared?: SpeechModel;
  readonly path: string;
  readonly base: readonly Parameter[];
  readonly features: { readonly [F in Feature]?: Change };
  readonly preferences: Readonly<Record<Preference, Change | "dropped">>;
}

/** It asks for nothing. */
export const SILENT_REQUEST: SpeechRequest = {
  task: "transcribe",
  toLanguage: null,
  language: { kind: "auto" },
  diarization: false,
  words: false,
  segments: false,
  keyterms: [],
  redaction: [],
  multichannel: false,
  profanityFilter: false,
  stream: false,
  speakerCountHint: null,
  smartFormatting: null,
  prompt: null,
};

const KEYTERMS = ["Patchbay", "Zürich"];

export const ASKING: Readonly<Record<Feature, Partial<SpeechRequest>>> = {
  diarization: { diarization: true },
  "timestamps.word": { words: true },
  "timestamps.segment": { segments: true },
  "redaction.pii": { redaction: ["pii"] },
  "redaction.pci": { redaction: ["pci"] },
  "redaction.phi": { redaction: ["phi"] },
  "redaction.numbers": { redaction: ["numbers"] },
  keyterms: { keyterms: KEYTERMS },
  multichannel: { multichannel: true },
  profanity_filter: { profanityFilter: true },
  streaming: { stream: true },
  translation: { task: "translate", toLanguage: "en" },
};

export const PREFERRING: Readonly<Record<Preference, Partial<SpeechRequest>>> = {
  detect_language: { language: { kind: "detect" } },
  speaker_count_hint: { speakerCountHint: 3 },
  smart_formatting: { smartFormatting: true },
  prompt: { prompt: "A call about invoices." },
  language: { language: { kind: "asked", tag: "pt-BR" } },
};

export function requestFor(model: SpeechModel, wishes: Partial<SpeechRequest>): SpeechRequest {
  const language: LanguageInForce =
    model.defaultLanguage === "auto" ? { kind: "auto" } : { kind: "default", tag: model.defaultLanguage };
  return { ...SILENT_REQUEST, stream: model.streamsOnly === true, language, ...wishes };
}

export const AUDIO_BYTES = Buffer.from(
  "RIFF\x24\x00\x00\x00WAVEfmt not really audio, but bytes to be counted",
  "latin1",
);

export function audioFixture(facts: Partial<SpeechAudio> = {}): SpeechAudio {
  return {
    format: "wav",
    mediaType: "audio/wav",
    fileName: "audio.wav",
    sizeBytes: AUDIO_BYTES.byteLength,
    durationSeconds: 5.4,
    channels: 1,
    open: async function* () {
      yield AUDIO_BYTES.subarray(0, 10);
      yield AUDIO_BYTES.subarray(10);
    },
    ...facts,
  };
}
