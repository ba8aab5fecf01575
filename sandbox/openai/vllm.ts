// Simulates vLLM's transcription server [providers.sandbox-dialects].
import { segmentsOf, type SimulatedChannel, simulateMixed } from "../simulate.ts";
import { type Alteration, jsonAnswer, type WireAnswer, type WireInput, valueOf } from "../wire/wire.ts";
import { isLanguageCode } from "../languages.ts";
import { verboseSegment } from "./verbose-segment.ts";

const FORMATS = ["json", "text", "verbose_json"];
/** The one model name that it does not have. */
const NOT_SERVED = "not-installed";

export const vllmError = (status: number): WireAnswer =>
  refusal(status, status >= 500 ? "Internal server error" : "The request could not be processed.");

function refusal(status: number, message: string, param: string | null = null): WireAnswer {
  const type = status === 404 ? "NotFoundError" : status >= 500 ? "InternalServerError" : "BadRequestError";
  return jsonAnswer(status, { error: { message, type, param, code: status } });
}

export async function vllmAnswer(
  input: WireInput,
  alteration: Alteration,
  task: "transcribe" | "translate",
): Promise<WireAnswer> {
  const { fields, file } = input;
  if (input.defect === "too_large") return refusal(400, "Maximum file size exceeded");
  if (input.defect !== null || file === null || file.fieldName !== "file")
    return refusal(422, "file: Field required", "file");
  const model = valueOf(fields, "model") ?? "";
  if (model === NOT_SERVED) return refusal(404, `The model \`${model}\` does not exist.`, "model");
  const format = valueOf(fields, "response_format") ?? "json";
  if (!FORMATS.includes(format))
    return refusal(400, `response_format must be one of ${FORMATS.join(", ")}`, "response_format");
  const language = valueOf(fields, "language");
  if (language !== null && !isLanguageCode(language))
    return refusal(400, `Unsupported language: ${language}`, "language");
  const isStream = valueOf(fields, "stream") === "true";
  if (isStream && format === "verbose_json")
    return refusal(400, "verbose_json does not support streaming", "response_format");
  const facts = await input.measure();
  if (!facts.ok) return refusal(400, "Invalid or unsupported audio file.");
  const channel = simulateMixed(facts, alteration);
  if (isStream) return stream(channel, model);
  const seconds = alteration.duration ?? Math.ceil(facts.durationSeconds);
  // This object is returned even for `text`.
  if (format !== "verbose_json") return jsonAnswer(200, { text: channel.text, usage: { type: "duration", seconds } });
  return jsonAnswer(200, {
    task,
    ...(alteration.drops.has("language") ? {} : { language: language ?? "en" }),
    // A string here, a number for all other servers.
    duration: String(alteration.duration ?? facts.durationSeconds),
    text: channel.text,
    // Word granularity is parsed and ignored.
    words: null,
    segments: alteration.drops.has("timestamps.segment")
      ? null
      : segmentsOf(channel).map((segment, id) => ({ ...verboseSegment(segment, id), no_speech_prob: null })),
  });
}

function stream(channel: SimulatedChannel, model: string): WireAnswer {
  const chunk = (delta: Record<string, string>, reason: string | null): string =>
    `data: ${JSON.stringify({ id: "trsc-sandbox", object: "transcription.chunk", created: 0, model, choices: [{ delta, finish_reason: reason, stop_reason: null }] })}\n\n`;
  const pieces = channel.words.map(({ text }, index) => chunk({ content: index === 0 ? text : ` ${text}` }, null));
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body: [...pieces, chunk({ content: "" }, "stop"), "data: [DONE]\n\n"],
  };
}
