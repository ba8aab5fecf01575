// Multipart fields of self-hosted servers per dialect, from their sources (whisper.cpp 0349811, speaches 06120fb, vLLM 04e47db).
import type { FeatureSupport, SpeechModel } from "../../../src/providers/provider.ts";
import type { GoldenModel, Parameter } from "../suites/fixtures.ts";

const SHOWN: FeatureSupport = { support: "native", grade: "shown" };
const SENT: FeatureSupport = { support: "native", grade: "sent" };
const JSON_FORMAT: Parameter = ["response_format", "json"];
const VERBOSE_FORMAT: Parameter = ["response_format", "verbose_json"];

/** As a configuration declares it: nothing, then what is known of the server. */
function declared(features: SpeechModel["features"], preferences: SpeechModel["preferences"]): SpeechModel {
  return { features, preferences, limits: {}, languages: "any", defaultLanguage: "auto" };
}

const UNKNOWN: GoldenModel = {
  model: "whisper",
  declared: declared({}, ["smart_formatting", "language"]),
  path: "/audio/transcriptions",
  base: [["model", "whisper"], JSON_FORMAT],
  features: {},
  preferences: {
    detect_language: "dropped",
    speaker_count_hint: "dropped",
    smart_formatting: {},
    prompt: "dropped",
    language: { added: [["language", "pt"]] },
  },
};

const SEGMENTS_DECLARED: GoldenModel = {
  ...UNKNOWN,
  model: "whisper-with-segments",
  declared: declared({ "timestamps.segment": SHOWN }, ["smart_formatting", "language"]),
  base: [["model", "whisper-with-segments"], JSON_FORMAT],
  features: {
    "timestamps.segment": { added: [VERBOSE_FORMAT, ["timestamp_granularities[]", "segment"]], removed: [JSON_FORMAT] },
  },
};

/** Silence means English there, so English is said; words come as tokens with every verbose_json. */
const WHISPER_CPP: GoldenModel = {
  model: "ggml-base",
  settings: { dialect: "whisper-cpp" },
  declared: declared({ "timestamps.word": SHOWN, "timestamps.segment": SHOWN, keyterms: SENT, translation: SENT }, [
    "detect_language",
    "smart_formatting",
    "prompt",
    "language",
  ]),
  path: "/inference",
  base: [["model", "ggml-base"], JSON_FORMAT, ["language", "en"]],
  features: {
    "timestamps.word": { added: [VERBOSE_FORMAT], removed: [JSON_FORMAT] },
    "timestamps.segment": { added: [VERBOSE_FORMAT], removed: [JSON_FORMAT] },
    keyterms: { added: [["prompt", "Patchbay, Zürich"]] },
    translation: { added: [["translate", "true"]] },
  },
  preferences: {
    detect_language: { added: [VERBOSE_FORMAT, ["language", "auto"]], removed: [JSON_FORMAT, ["language", "en"]] },
    speaker_count_hint: "dropped",
    smart_formatting: {},
    prompt: { added: [["prompt", "A call about invoices."]] },
    language: { added: [["language", "pt"]], removed: [["language", "en"]] },
  },
};

const SPEACHES: GoldenModel = {
  model: "Systran/faster-whisper-large-v3",
  settings: { dialect: "speaches" },
  declared: declared(
    { diarization: SHOWN, "timestamps.word": SHOWN, "timestamps.segment": SHOWN, keyterms: SENT, translation: SENT },
    ["detect_language", "smart_formatting", "prompt", "language"],
  ),
  path: "/audio/transcriptions",
  base: [["model", "Systran/faster-whisper-large-v3"], JSON_FORMAT],
  features: {
    diarization: { added: [VERBOSE_FORMAT, ["diarization", "true"]], removed: [JSON_FORMAT] },
    "timestamps.word": { added: [VERBOSE_FORMAT, ["timestamp_granularities[]", "word"]], removed: [JSON_FORMAT] },
    "timestamps.segment": { added: [VERBOSE_FORMAT, ["timestamp_granularities[]", "segment"]], removed: [JSON_FORMAT] },
    keyterms: { added: [["hotwords", "Patchbay, Zürich"]] },
    translation: { path: "/audio/translations" },
  },
  preferences: {
    detect_language: { added: [VERBOSE_FORMAT], removed: [JSON_FORMAT] },
    speaker_count_hint: "dropped",
    smart_formatting: {},
    prompt: { added: [["prompt", "A call about invoices."]] },
    language: { added: [["language", "pt"]] },
  },
};

const VLLM: GoldenModel = {
  ...SPEACHES,
  model: "openai/whisper-large-v3",
  settings: { dialect: "vllm" },
  declared: declared({ "timestamps.segment": SHOWN, keyterms: SENT, translation: SENT }, [
    "smart_formatting",
    "prompt",
    "language",
  ]),
  base: [["model", "openai/whisper-large-v3"], JSON_FORMAT],
  features: {
    "timestamps.segment": { added: [VERBOSE_FORMAT, ["timestamp_granularities[]", "segment"]], removed: [JSON_FORMAT] },
    keyterms: { added: [["hotwords", "Patchbay, Zürich"]] },
    translation: { path: "/audio/translations" },
  },
  preferences: { ...SPEACHES.preferences, detect_language: "dropped" },
};

/** Whisper on OpenAI's fields (console.groq.com), as an operator declares it from the documentation. */
const GROQ: GoldenModel = {
  ...SPEACHES,
  model: "whisper-large-v3",
  settings: { dialect: "groq" },
  declared: declared({ "timestamps.word": SHOWN, "timestamps.segment": SHOWN, keyterms: SENT, translation: SENT }, [
    "detect_language",
    "smart_formatting",
    "prompt",
    "language",
  ]),
  base: [["model", "whisper-large-v3"], JSON_FORMAT],
  features: {
    "timestamps.word": { added: [VERBOSE_FORMAT, ["timestamp_granularities[]", "word"]], removed: [JSON_FORMAT] },
    "timestamps.segment": { added: [VERBOSE_FORMAT, ["timestamp_granularities[]", "segment"]], removed: [JSON_FORMAT] },
    keyterms: { added: [["prompt", "Patchbay, Zürich"]] },
    translation: { path: "/audio/translations" },
  },
};

/** docs.mistral.ai: no response_format, no brackets, speakers only with a granularity. */
const MISTRAL: GoldenModel = {
  model: "voxtral-mini-latest",
  settings: { dialect: "mistral" },
  declared: declared({ diarization: SHOWN, "timestamps.word": SHOWN, "timestamps.segment": SHOWN, keyterms: SENT }, [
    "smart_formatting",
    "language",
  ]),
  path: "/audio/transcriptions",
  base: [["model", "voxtral-mini-latest"]],
  features: {
    diarization: {
      added: [
        ["diarize", "true"],
        ["timestamp_granularities", "segment"],
      ],
    },
    "timestamps.word": { added: [["timestamp_granularities", "word"]] },
    "timestamps.segment": { added: [["timestamp_granularities", "segment"]] },
    keyterms: {
      added: [
        ["context_bias", "Patchbay"],
        ["context_bias", "Zürich"],
      ],
    },
  },
  preferences: {
    detect_language: "dropped",
    speaker_count_hint: "dropped",
    smart_formatting: {},
    prompt: "dropped",
    language: { added: [["language", "pt"]] },
  },
};

/** Known without a declaration, and the dialect goes with the name. */
const voxtral3 = (model: string): GoldenModel => {
  const { declared: _, ...known } = MISTRAL;
  return { ...known, model, base: [["model", model]] };
};

/** whisper.cpp started with `--inference-path /v1/audio/transcriptions`. */
const OTHER_PATH: GoldenModel = {
  ...UNKNOWN,
  model: "moved",
  settings: { transcribe_path: "/v2/hear" },
  path: "/v2/hear",
  base: [["model", "moved"], JSON_FORMAT],
};

export const COMPATIBLE_GOLDEN: readonly GoldenModel[] = [
  UNKNOWN,
  SEGMENTS_DECLARED,
  WHISPER_CPP,
  SPEACHES,
  VLLM,
  GROQ,
  MISTRAL,
  OTHER_PATH,
  ...["mini", "small"].flatMap((size) => [
    voxtral3(`voxtral-${size}-transcribe-3`),
    voxtral3(`voxtral-${size}-transcribe-3-0`),
  ]),
];
