// Simulates whisper.cpp's server with `--convert`, in both usual configurations: with `--inference-path /v1/audio/transcriptions`, and without
// (examples/server/server.cpp and examples/server-common.cpp, 0349811).
import { toSrt, toVtt } from "../captions.ts";
import { isLanguageCode, languageName } from "../languages.ts";
import { type SimulatedSegment, type SimulatedWord, milliseconds, segmentsOf, simulateMixed } from "../simulate.ts";
import { type Alteration, jsonAnswer, type WireAnswer, type WireInput, valueOf } from "../wire/wire.ts";

const TOKEN_LETTERS = 6;

/** The one transcription path of each configuration, by its prefix here. */
export const WHISPER_CPP_STARTS: Readonly<Record<string, string>> = {
  "/compatible/whisper-cpp": "/v1/audio/transcriptions",
  "/compatible/whisper-cpp-stock": "/inference",
};
const SERVER = { server: "whisper.cpp" };

/** Answers other than to audio. Null: the path is of another server, or for audio. */
export function whisperCppBareAnswer(method: string, path: string): WireAnswer | null {
  const start = Object.keys(WHISPER_CPP_STARTS).find((prefix) => path.startsWith(`${prefix}/`));
  if (start === undefined) return null;
  const inferencePath = `${start}${WHISPER_CPP_STARTS[start]}`;
  if (path === inferencePath && method === "POST") return null;
  if (path === inferencePath && method === "OPTIONS") return { status: 200, headers: SERVER, body: "" };
  if (path === `${start}/health` && method === "GET") return jsonAnswer(200, { status: "ok" }, SERVER);
  return {
    status: 404,
    headers: { ...SERVER, "content-type": "text/plain" },
    body: `File Not Found (${path.slice(start.length)})`,
  };
}

/** Its error handler replaces the body of a 400, keeps that of a 500 and answers any other status with the 404 text. */
export function whisperCppError(status: number): WireAnswer {
  if (status === 500) return jsonAnswer(500, { error: "failed to process audio" });
  const text = status === 400 ? "Invalid request" : "File Not Found";
  return { status, headers: { ...SERVER, "content-type": "text/plain" }, body: text };
}

export async function whisperCppAnswer(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
  const { fields, file } = input;
  // Unknown fields, including the model's name, are silently ignored.
  const language = valueOf(fields, "language") ?? "en";
  if (input.defect !== null || file === null || file.fieldName !== "file") return whisperCppError(400);
  if (language !== "auto" && !isLanguageCode(language)) return whisperCppError(400);
  const facts = await input.measure();
  if (!facts.ok) return whisperCppError(400);
  const channel = simulateMixed(facts, alteration);
  const segments = alteration.drops.has("timestamps.segment") ? [] : segmentsOf(channel);
  const answer = (contentType: string, body: string): WireAnswer => ({
    status: 200,
    headers: { "content-type": contentType },
    body,
  });
  switch (valueOf(fields, "response_format") ?? "json") {
    case "text":
      return answer("text/html; charset=utf-8", `${channel.text}\n`);
    case "srt":
      return answer("application/x-subrip", toSrt(segments));
    case "vtt":
      return answer("text/vtt", toVtt(segments));
    case "verbose_json":
      return jsonAnswer(200, verboseBody({ input, alteration, text: channel.text, segments, facts, language }));
    default:
      return jsonAnswer(200, { text: channel.text });
  }
}

interface Verbose {
  readonly input: WireInput;
  readonly alteration: Alteration;
  readonly text: string;
  readonly segments: readonly SimulatedSegment[];
  readonly facts: { readonly durationSeconds: number; readonly channels: number };
  readonly language: string;
}

function verboseBody({ input, alteration, text, segments, facts, language }: Verbose): Record<string, unknown> {
  const { drops } = alteration;
  const isDetecting = language === "auto" || valueOf(input.fields, "detect_language") === "true";
  // Its diarization compares the loudness of two channels, so it needs two.
  const isDiarized = valueOf(input.fields, "diarize") === "true" && facts.channels === 2 && !drops.has("diarization");
  const hasWords =
    !drops.has("timestamps.word") &&
    valueOf(input.fields, "token_timestamps") !== "false" &&
    valueOf(input.fields, "no_timestamps") !== "true";
  const code = isDetecting ? "en" : language;
  return {
    task: valueOf(input.fields, "translate") === "true" ? "translate" : "transcribe",
    ...(drops.has("language") ? {} : { language: languageName(code) }),
    duration: alteration.duration ?? facts.durationSeconds,
    text,
    segments: segments.map((segment, id) => ({
      id,
      text: ` ${segment.text}`,
      start: segment.start,
      end: segment.end,
      ...(isDiarized ? { speaker: String(segment.speaker) } : {}),
      tokens: segment.words.map((_, index) => 50_364 + index),
      ...(hasWords ? { words: segment.words.flatMap(tokensOf) } : {}),
      temperature: 0,
      avg_logprob: -0.25,
      no_speech_prob: 0.01,
    })),
    // Guessed at the end, whether requested or not, and whatever language was set.
    ...(drops.has("language") || valueOf(input.fields, "no_language_probabilities") === "true"
      ? {}
      : { detected_language: "english", detected_language_probability: 0.99, language_probabilities: { en: 0.99 } }),
  };
}

/** Its words are tokens: the first has a leading space, and long words are split. */
function tokensOf({ text, start, end }: SimulatedWord): Record<string, unknown>[] {
  const pieces = ` ${text}`.match(new RegExp(`.{1,${TOKEN_LETTERS}}`, "gsu")) ?? [];
  const each = (end - start) / pieces.length;
  return pieces.map((word, index) => ({
    word,
    start: milliseconds(start + index * each),
    end: milliseconds(start + (index + 1) * each),
    t_dtw: -1,
    probability: 0.99,
  }));
}
