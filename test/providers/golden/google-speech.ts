// Google Speech-to-Text v2 requests, from its protos and the pages of its models (checked 2026-11-20). Nested members by their
// path, values in JSON; `content`, or the object's name in `files`, is added on the wire.
import { GOOGLE_SPEECH_MODELS, withBucket } from "../../../src/providers/google-speech/google-speech-models.ts";
import type { Change, GoldenModel, Parameter } from "../suites/fixtures.ts";

const WORDS: Parameter = ["config.features.enableWordTimeOffsets", "true"];
const PHRASES: Change = {
  added: [
    ["config.adaptation.phraseSets", '[{"inlinePhraseSet":{"phrases":[{"value":"Patchbay"},{"value":"Zürich"}]}}]'],
  ],
};
const CHANNELS: Change = {
  added: [["config.features.multiChannelMode", '"SEPARATE_RECOGNITION_PER_CHANNEL"']],
};
const language = (codes: string): Parameter => ["config.languageCodes", codes];

const base = (model: string, codes: string): readonly Parameter[] => [
  ["config.autoDecodingConfig", "{}"],
  ["config.model", JSON.stringify(model)],
  language(codes),
  ["config.features.enableAutomaticPunctuation", "true"],
];

const CHIRP_3: GoldenModel = {
  model: "chirp_3",
  settings: { project: "acme-1" },
  path: "/v2/projects/acme-1/locations/us/recognizers/_:recognize",
  base: base("chirp_3", '["en-US"]'),
  features: {
    // "enable by an empty diarizationConfig".
    diarization: { added: [["config.features.diarizationConfig", "{}"]] },
    "timestamps.segment": {},
    keyterms: PHRASES,
    multichannel: CHANNELS,
  },
  preferences: {
    detect_language: { added: [language('["auto"]')], removed: [language('["en-US"]')] },
    speaker_count_hint: "dropped",
    // Punctuation is asked for unless the request turns it off.
    smart_formatting: {},
    prompt: { added: [["config.features.customPromptConfig.customPrompt", '"A call about invoices."']] },
    language: { added: [language('["pt-BR"]')], removed: [language('["en-US"]')] },
  },
};

const LONG: GoldenModel = {
  model: "long",
  settings: { project: "acme-1", location: "eu" },
  path: "/v2/projects/acme-1/locations/eu/recognizers/_:recognize",
  base: base("long", '["en-US"]'),
  features: {
    "timestamps.word": { added: [WORDS] },
    // A result says where it ends; where it begins its first word says.
    "timestamps.segment": { added: [WORDS] },
    keyterms: PHRASES,
    multichannel: CHANNELS,
    profanity_filter: { added: [["config.features.profanityFilter", "true"]] },
  },
  preferences: {
    ...CHIRP_3.preferences,
    detect_language: "dropped",
    prompt: "dropped",
  },
};

const CHIRP_2: GoldenModel = {
  ...LONG,
  model: "chirp_2",
  settings: { project: "acme-1", location: "us-central1" },
  path: "/v2/projects/acme-1/locations/us-central1/recognizers/_:recognize",
  base: base("chirp_2", '["en-US"]'),
  features: { ...LONG.features, translation: { added: [["config.translationConfig.targetLanguage", '"en-US"']] } },
};

/** With a bucket: the same, what a batch needs in addition, and chirp_3's word times by the one method that has them. */
function inBucket(golden: GoldenModel): GoldenModel {
  const known = GOOGLE_SPEECH_MODELS[golden.model];
  if (known === undefined) throw new Error(golden.model);
  return {
    ...golden,
    settings: { ...golden.settings, bucket: "acme-audio" },
    declared: withBucket(golden.model, known),
    base: [
      ...golden.base,
      ["files", '[{"uri":"gs://acme-audio/"}]'],
      ["recognitionOutputConfig.inlineResponseConfig", "{}"],
    ],
    features: {
      ...golden.features,
      ...(golden.model === "chirp_3"
        ? { "timestamps.word": { path: golden.path.replace(":recognize", ":batchRecognize"), added: [WORDS] } }
        : {}),
    },
  };
}

export const GOOGLE_SPEECH_GOLDEN: readonly GoldenModel[] = [CHIRP_3, CHIRP_2, LONG, inBucket(CHIRP_3), inBucket(LONG)];
