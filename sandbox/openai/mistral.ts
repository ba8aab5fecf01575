// Simulates Mistral's Voxtral: one JSON format, with word entries instead of segments [providers.sandbox-dialects].
import { isRetired } from "../retired-models.ts";
import { invalidField } from "../wire/fastapi-error.ts";
import { isLanguageCode } from "../languages.ts";
import { type SimulatedChannel, segmentsOf, simulateMixed } from "../simulate.ts";
import {
  type Alteration,
  jsonAnswer,
  type Pairs,
  valueOf,
  valuesOf,
  type WireAnswer,
  type WireInput,
} from "../wire/wire.ts";

const FIELDS = new Set([
  "model",
  "file_url",
  "file_id",
  "language",
  "temperature",
  "stream",
  "diarize",
  "context_bias",
  "timestamp_granularities",
]);
const MAX_BIAS_TERMS = 100;
/** Earlier models refuse a language together with times. */
const TAKES_BOTH = /^voxtral-(?:mini|small)-transcribe-3(?:-|$)/u;

export const mistralError = (status: number): WireAnswer =>
  jsonAnswer(status, {
    object: "error",
    message: status >= 500 ? "Service unavailable." : "The request could not be processed.",
    type: status >= 500 ? "internal_server_error" : "invalid_request_error",
    param: null,
    code: null,
  });

export async function mistralAnswer(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
  const { fields, file } = input;
  // The status is documented, the body is not.
  if (isRetired("mistral", valueOf(fields, "model") ?? "", input.nowMs)) return mistralError(404);
  const fault = findFault(fields);
  if (fault !== null) return invalidField(...fault);
  if (input.defect !== null || file === null || file.fieldName !== "file")
    return invalidField("file", "Field required");
  const facts = await input.measure();
  if (!facts.ok)
    return jsonAnswer(400, {
      object: "error",
      message: "Audio could not be decoded.",
      type: "invalid_file",
      param: null,
      code: "3310",
    });
  const channel = simulateMixed(facts, alteration);
  return jsonAnswer(200, {
    model: alteration.otherModel ?? valueOf(fields, "model"),
    text: channel.text,
    language: alteration.drops.has("language") ? null : valueOf(fields, "language"),
    segments: entries(channel, fields, alteration),
    usage: {
      prompt_audio_seconds: alteration.duration ?? Math.ceil(facts.durationSeconds),
      prompt_tokens: 4,
      completion_tokens: channel.words.length,
      total_tokens: channel.words.length + 4,
    },
  });
}

function findFault(fields: Pairs): readonly [string, string] | null {
  const unknown = fields.find(([name]) => !FIELDS.has(name));
  if (unknown !== undefined) return [unknown[0], "Extra inputs are not permitted"];
  if ((valueOf(fields, "model") ?? "") === "") return ["model", "Field required"];
  const language = valueOf(fields, "language");
  if (language !== null && !isLanguageCode(language)) return ["language", "Input should be a known language"];
  const granularities = valuesOf(fields, "timestamp_granularities");
  if (granularities.some((value) => value !== "word" && value !== "segment"))
    return ["timestamp_granularities", "Input should be 'segment' or 'word'"];
  if (granularities.length > 0 && language !== null && !TAKES_BOTH.test(valueOf(fields, "model") ?? ""))
    return ["timestamp_granularities", "timestamp_granularities cannot be used together with language"];
  if (valueOf(fields, "diarize") === "true" && granularities.length === 0)
    return ["diarize", "diarize needs timestamp_granularities"];
  const terms = valuesOf(fields, "context_bias");
  if (terms.length > MAX_BIAS_TERMS) return ["context_bias", `List should have at most ${MAX_BIAS_TERMS} items`];
  if (terms.some((term) => !/^[^\s,]+$/u.test(term)))
    return ["context_bias", "Context bias items must not contain commas or whitespace"];
  return null;
}

function entries(channel: SimulatedChannel, fields: Pairs, { drops }: Alteration): readonly object[] {
  const [granularity] = valuesOf(fields, "timestamp_granularities");
  if (granularity === undefined || drops.has(granularity === "word" ? "timestamps.word" : "timestamps.segment"))
    return [];
  const isDiarized = valueOf(fields, "diarize") === "true" && !drops.has("diarization");
  return (granularity === "word" ? channel.words : segmentsOf(channel)).map(({ text, start, end, speaker }) => ({
    type: "transcription_segment",
    text: ` ${text}`,
    start,
    end,
    score: null,
    speaker_id: isDiarized ? `speaker_${speaker}` : null,
  }));
}
