// Gemini's audio requests: `interactions` of the transcription model and `generateContent` of general ones, from
// ai.google.dev (checked 2026-11-26). Nested members by their path, values in JSON; the audio is added on the wire.
import { CHAT_MODELS } from "../../../src/providers/catalog.ts";
import type { Change, GoldenModel, Parameter } from "../suites/fixtures.ts";

const CONFIG = "generation_config.transcription_config";
const WORD_TIMES: Parameter = [`${CONFIG}.mode.timestamp_granularities`, '["word"]'];
const UNTOUCHED = "dropped" as const;

const TRANSCRIBE: GoldenModel = {
  model: "gemini-3.5-transcribe",
  path: "/v1beta/interactions",
  base: [
    ["model", '"gemini-3.5-transcribe"'],
    // Interactions are stored unless this is false.
    ["store", "false"],
    [`${CONFIG}.mode.type`, '"verbatim"'],
  ],
  features: {
    // Speakers are marks on words; when they spoke is known from the words' times alone.
    diarization: { added: [[`${CONFIG}.mode.diarization_mode`, '"speaker"'], WORD_TIMES] },
    "timestamps.word": { added: [WORD_TIMES] },
    "timestamps.segment": { added: [WORD_TIMES] },
    keyterms: { added: [[`${CONFIG}.custom_vocabulary`, '["Patchbay","Zürich"]']] },
  },
  preferences: {
    detect_language: UNTOUCHED,
    speaker_count_hint: UNTOUCHED,
    // `smart` exists, but it leaves words out; see the parity test.
    smart_formatting: UNTOUCHED,
    prompt: UNTOUCHED,
    language: { added: [[`${CONFIG}.language_codes`, '["pt-BR"]']] },
  },
};

const VERBATIM =
  "Write down the speech in the audio word for word in the language spoken, with punctuation. Leave nothing out and add nothing. Give it as `text`; when nobody speaks, `text` is empty.";
const INTO_ENGLISH =
  "Translate the speech in the audio into English (en), whole and faithfully. Give the translation as `text`; when nobody speaks, `text` is empty.";

const instructions = (...lines: readonly string[]): Parameter => [
  "systemInstruction.parts",
  JSON.stringify(lines.map((text) => ({ text }))),
];
const instructed = (...lines: readonly string[]): Change => ({
  added: [instructions(...lines)],
  removed: [instructions(VERBATIM)],
});

const general = (model: string): GoldenModel => ({
  model,
  path: `/v1beta/models/${model}:generateContent`,
  base: [
    instructions(VERBATIM),
    // From 3.6 on it is deprecated.
    ...(/^gemini-(?:2|3\.[15])/u.test(model) ? [["generationConfig.temperature", "0"] as const] : []),
    ["generationConfig.responseMimeType", '"application/json"'],
    ["generationConfig.responseJsonSchema.type", '"object"'],
    ["generationConfig.responseJsonSchema.properties.text.type", '"string"'],
    ["generationConfig.responseJsonSchema.required", '["text"]'],
  ],
  features: {
    keyterms: instructed(VERBATIM, "Where these terms are spoken, write them so: Patchbay, Zürich"),
    profanity_filter: instructed(VERBATIM, "Write asterisks in the place of profane words."),
    translation: instructed(INTO_ENGLISH),
  },
  preferences: {
    detect_language: UNTOUCHED,
    speaker_count_hint: UNTOUCHED,
    smart_formatting: UNTOUCHED,
    prompt: instructed(VERBATIM, "About the audio: A call about invoices."),
    language: UNTOUCHED,
  },
});

export const GEMINI_GOLDEN: readonly GoldenModel[] = [
  TRANSCRIBE,
  ...Object.entries(CHAT_MODELS.gemini ?? {})
    .filter(([, { features }]) => features.includes("audio_parts"))
    .map(([model]) => general(model)),
];
