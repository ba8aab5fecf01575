// OpenAI's multipart fields per model and feature, from its API reference and guide (audio, checked 2026-11-20).
import type { Change, GoldenModel, Parameter } from "../suites/fixtures.ts";

const JSON_FORMAT: Parameter = ["response_format", "json"];
/** The answer as events; every model but whisper-1, which ignores it. */
const STREAMED: Change = { added: [["stream", "true"]] };
const VERBOSE: Change = { added: [["response_format", "verbose_json"]], removed: [JSON_FORMAT] };

function verbose(...more: readonly Parameter[]): Change {
  return { ...VERBOSE, added: [["response_format", "verbose_json"], ...more] };
}

/** The documented technique for whisper-1: the words, spelled as they should be, in the prompt. */
const KEYTERMS_IN_PROMPT: Change = { added: [["prompt", "Patchbay, Zürich"]] };
const PROMPT: Change = { added: [["prompt", "A call about invoices."]] };
/** ISO-639-1, so the region goes. */
const LANGUAGE: Change = { added: [["language", "pt"]] };

const WHISPER_1: GoldenModel = {
  model: "whisper-1",
  path: "/audio/transcriptions",
  base: [["model", "whisper-1"], JSON_FORMAT],
  features: {
    "timestamps.word": verbose(["timestamp_granularities[]", "word"]),
    "timestamps.segment": verbose(["timestamp_granularities[]", "segment"]),
    keyterms: KEYTERMS_IN_PROMPT,
    translation: { path: "/audio/translations" },
  },
  preferences: {
    detect_language: VERBOSE,
    speaker_count_hint: "dropped",
    // Output is always punctuated and formatted; there is nothing to ask.
    smart_formatting: {},
    prompt: PROMPT,
    language: LANGUAGE,
  },
};

function gpt4o(model: string): GoldenModel {
  return {
    model,
    path: "/audio/transcriptions",
    base: [["model", model], JSON_FORMAT],
    features: { keyterms: KEYTERMS_IN_PROMPT, streaming: STREAMED },
    preferences: { ...WHISPER_1.preferences, detect_language: "dropped" },
  };
}

const DIARIZED: Change = { added: [["response_format", "diarized_json"]], removed: [JSON_FORMAT] };

const DIARIZE: GoldenModel = {
  model: "gpt-4o-transcribe-diarize",
  path: "/audio/transcriptions",
  base: [["model", "gpt-4o-transcribe-diarize"], JSON_FORMAT, ["chunking_strategy", "auto"]],
  features: { diarization: DIARIZED, "timestamps.segment": DIARIZED, streaming: STREAMED },
  preferences: { ...WHISPER_1.preferences, detect_language: "dropped", prompt: "dropped" },
};

/** A sample of a voice is two seconds at least; what it holds is the provider's to judge. */
const ADA = "data:audio/wav;base64,UklGRg==";
const BOB = "data:audio/mpeg;base64,//uQ";

const DIARIZE_KNOWN: GoldenModel = {
  ...DIARIZE,
  settings: {
    known_speakers: [
      { name: "Ada", reference: ADA },
      { name: "Bob", reference: BOB },
    ],
  },
  base: [
    ...DIARIZE.base,
    ["known_speaker_names[]", "Ada"],
    ["known_speaker_names[]", "Bob"],
    ["known_speaker_references[]", ADA],
    ["known_speaker_references[]", BOB],
  ],
};

const GPT_TRANSCRIBE: GoldenModel = {
  model: "gpt-transcribe",
  path: "/audio/transcriptions",
  base: [["model", "gpt-transcribe"], JSON_FORMAT],
  features: {
    streaming: STREAMED,
    keyterms: {
      added: [
        ["keywords[]", "Patchbay"],
        ["keywords[]", "Zürich"],
      ],
    },
  },
  preferences: {
    ...WHISPER_1.preferences,
    // Says `languages` in its plain JSON, unasked.
    detect_language: {},
    language: { added: [["languages[]", "pt"]] },
  },
};

/** The session of the Realtime API, each value as JSON (guide to realtime transcription and npm openai@7.57.0). */
function live(
  model: string,
  features: GoldenModel["features"],
  preferences: Pick<GoldenModel["preferences"], "prompt" | "language">,
): GoldenModel {
  return {
    model,
    path: "/realtime",
    base: [
      ["type", '"transcription"'],
      ["audio.input.format.type", '"audio/pcm"'],
      ["audio.input.format.rate", "24000"],
      ["audio.input.transcription.model", JSON.stringify(model)],
      ["audio.input.turn_detection", "null"],
    ],
    features: { streaming: {}, ...features },
    preferences: { detect_language: "dropped", speaker_count_hint: "dropped", smart_formatting: {}, ...preferences },
  };
}

export const OPENAI_LIVE_GOLDEN: readonly GoldenModel[] = [
  live(
    "gpt-live-transcribe",
    { keyterms: { added: [["audio.input.transcription.keywords", '["Patchbay","Zürich"]']] } },
    {
      prompt: { added: [["audio.input.transcription.prompt", '"A call about invoices."']] },
      // Never together with the older `language`.
      language: { added: [["audio.input.transcription.languages", '["pt"]']] },
    },
  ),
  live(
    "gpt-realtime-whisper",
    {},
    { prompt: "dropped", language: { added: [["audio.input.transcription.language", '"pt"']] } },
  ),
];

export const OPENAI_GOLDEN: readonly GoldenModel[] = [
  WHISPER_1,
  gpt4o("gpt-4o-transcribe"),
  gpt4o("gpt-4o-mini-transcribe"),
  DIARIZE,
  GPT_TRANSCRIBE,
  gpt4o("gpt-4o-mini-transcribe-2025-12-15"),
  gpt4o("gpt-4o-mini-transcribe-2025-03-20"),
  DIARIZE_KNOWN,
  ...OPENAI_LIVE_GOLDEN,
];
