// Simulates speaches (faster-whisper behind FastAPI) [providers.sandbox-dialects].
import { toSrt, toVtt } from "../captions.ts";
import { invalidField } from "../wire/fastapi-error.ts";
import { isLanguageCode } from "../languages.ts";
import { type SimulatedSegment, segmentsOf, simulateMixed } from "../simulate.ts";
import { verboseSegment } from "./verbose-segment.ts";
import { type Alteration, jsonAnswer, valueOf, valuesOf, type WireAnswer, type WireInput } from "../wire/wire.ts";

const FORMATS = ["text", "json", "verbose_json", "srt", "vtt"];
/** The one model that it reports as not downloaded. It has every other. */
const NOT_INSTALLED = "not-installed";

export const speachesError = (status: number): WireAnswer =>
  jsonAnswer(status, { detail: status >= 500 ? "Internal Server Error" : "The request could not be processed." });

export async function speachesAnswer(
  input: WireInput,
  alteration: Alteration,
  task: "transcribe" | "translate",
): Promise<WireAnswer> {
  const { fields, file } = input;
  const model = valueOf(fields, "model");
  if (input.defect !== null || file === null || file.fieldName !== "file")
    return invalidField("file", "Field required");
  if (model === null) return invalidField("model", "Field required");
  const language = valueOf(fields, "language");
  if (language !== null && !isLanguageCode(language))
    return invalidField("language", "Input should be a known language");
  const format = valueOf(fields, "response_format") ?? "json";
  if (!FORMATS.includes(format)) return invalidField("response_format", `Input should be one of ${FORMATS.join(", ")}`);
  if (model === NOT_INSTALLED) return jsonAnswer(404, { detail: `Model '${model}' is not installed locally.` });
  const granularities = valuesOf(fields, "timestamp_granularities[]");
  // An assertion, not a validation: the server answers 500.
  if (granularities.length > 0 && format !== "verbose_json") return speachesError(500);
  const facts = await input.measure();
  if (!facts.ok) return jsonAnswer(415, { detail: "Failed to decode audio." });
  const channel = simulateMixed(facts, alteration);
  const { drops } = alteration;
  const segments = drops.has("timestamps.segment") ? [] : segmentsOf(channel);
  const isDiarized = valueOf(fields, "diarization") === "true" && !drops.has("diarization");
  if (valueOf(fields, "stream") === "true") return stream(segments, format);
  const plain = (contentType: string, body: string): WireAnswer => ({
    status: 200,
    headers: { "content-type": contentType },
    body,
  });
  if (format === "text") return plain("text/plain; charset=utf-8", channel.text);
  if (format === "srt") return plain("text/plain; charset=utf-8", toSrt(segments));
  if (format === "vtt") return plain("text/vtt; charset=utf-8", toVtt(segments));
  if (format === "json") return jsonAnswer(200, { text: channel.text });
  const words = channel.words.map(({ text, start, end }) => ({ start, end, word: ` ${text}`, probability: 0.99 }));
  return jsonAnswer(200, {
    task,
    // The language code, where OpenAI returns the English name.
    ...(drops.has("language") ? {} : { language: task === "translate" ? "en" : (language ?? "en") }),
    duration: alteration.duration ?? facts.durationSeconds,
    text: channel.text,
    words: granularities.includes("word") && !drops.has("timestamps.word") ? words : null,
    segments: segments.map((segment, id) => segmentBody(segment, id, isDiarized)),
  });
}

const segmentBody = (segment: SimulatedSegment, id: number, isDiarized: boolean): Record<string, unknown> => ({
  ...verboseSegment(segment, id + 1),
  ...(isDiarized ? { speaker: `SPEAKER_0${segment.speaker}` } : {}),
});

/** One line per segment, in the requested format. No end mark. */
function stream(segments: readonly SimulatedSegment[], format: string): WireAnswer {
  const lines = segments.map((segment, index) => {
    if (format === "text") return segment.text;
    return JSON.stringify(format === "verbose_json" ? segmentBody(segment, index, false) : { text: segment.text });
  });
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body: lines.map((line) => `data: ${line}\n\n`),
  };
}
