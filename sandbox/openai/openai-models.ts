// OpenAI's speech models: which fields, formats and durations each accepts and how it is billed.

export const RESPONSE_FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] as const;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

export interface OpenAiModel {
  readonly name: string;
  readonly family: "whisper" | "gpt-4o" | "diarize" | "gpt-transcribe";
  readonly formats: readonly ResponseFormat[];
  /** In addition to `file`, `model`, `response_format`, `temperature`, `stream`. Objects are listed by their root. */
  readonly fields: readonly string[];
  readonly maxSeconds: number;
  readonly usage: "duration" | "tokens";
}

const GPT_4O: Omit<OpenAiModel, "name"> = {
  family: "gpt-4o",
  formats: ["json", "text"],
  fields: ["language", "prompt", "include[]", "chunking_strategy"],
  maxSeconds: 1500,
  usage: "tokens",
};

const WHISPER: Omit<OpenAiModel, "name"> = {
  family: "whisper",
  formats: ["json", "text", "srt", "verbose_json", "vtt"],
  fields: ["language", "prompt", "timestamp_granularities[]"],
  maxSeconds: Number.POSITIVE_INFINITY,
  usage: "duration",
};

const MODELS: readonly OpenAiModel[] = [
  { name: "whisper-1", ...WHISPER },
  ...[
    "gpt-4o-transcribe",
    "gpt-4o-mini-transcribe",
    "gpt-4o-mini-transcribe-2025-12-15",
    "gpt-4o-mini-transcribe-2025-03-20",
  ].map((name) => ({ name, ...GPT_4O })),
  {
    name: "gpt-4o-transcribe-diarize",
    family: "diarize",
    formats: ["json", "text", "diarized_json"],
    fields: ["language", "chunking_strategy", "known_speaker_names[]", "known_speaker_references[]"],
    maxSeconds: 1400,
    usage: "duration",
  },
  {
    name: "gpt-transcribe",
    family: "gpt-transcribe",
    formats: ["json", "text"],
    fields: ["languages[]", "keywords[]", "prompt"],
    maxSeconds: Number.POSITIVE_INFINITY,
    usage: "duration",
  },
];

export const MODEL_NAMES: readonly string[] = MODELS.map(({ name }) => name);

const COMMON_FIELDS = ["file", "model", "response_format", "temperature", "stream"];
const ALL_FIELDS = new Set([...COMMON_FIELDS, ...MODELS.flatMap(({ fields }) => fields)]);

export const findModel = (name: string): OpenAiModel | null => MODELS.find((model) => model.name === name) ?? null;
export const takesField = (model: OpenAiModel, field: string): boolean =>
  COMMON_FIELDS.includes(field) || model.fields.includes(field);
export const isKnownField = (field: string): boolean => ALL_FIELDS.has(field);
/** A compatible server's models are unknown: they are treated as Whisper models. */
export const anyWhisper = (name: string): OpenAiModel => ({ name, ...WHISPER });
