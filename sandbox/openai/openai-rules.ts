// Validates requests to the OpenAI audio endpoints, in OpenAI's own order [providers.sandbox-refusals].
import { mediaTypeMatches } from "../../src/audio/media-types.ts";
import { isLanguageCode } from "../languages.ts";
import type { AudioFacts } from "../wire/measure-audio.ts";
import type { OpenAiFault } from "./openai-errors.ts";
import { isKnownField, type OpenAiModel, RESPONSE_FORMATS, type ResponseFormat, takesField } from "./openai-models.ts";
import { type Pairs, valueOf, valuesOf } from "../wire/wire.ts";

const FILE_EXTENSIONS: ReadonlySet<string> = new Set([
  "flac",
  "m4a",
  "mp3",
  "mp4",
  "mpeg",
  "mpga",
  "oga",
  "ogg",
  "wav",
  "webm",
]);
const TRANSLATION_FIELDS: ReadonlySet<string> = new Set(["file", "model", "prompt", "response_format", "temperature"]);
const MAX_KNOWN_SPEAKERS = 4;
const MINIMUM_SECONDS = 0.1;

export interface OpenAiAsked {
  readonly model: OpenAiModel;
  readonly task: "transcribe" | "translate";
  readonly format: ResponseFormat;
  readonly languages: readonly string[];
  readonly hasWords: boolean;
  readonly hasSegments: boolean;
  readonly hasLogprobs: boolean;
  readonly isStream: boolean;
  readonly speakerNames: readonly string[];
}
export type OpenAiJudgement =
  | { readonly ok: true; readonly asked: OpenAiAsked }
  | { readonly ok: false; readonly fault: OpenAiFault };

export function judgeOpenAiFields(
  fields: Pairs,
  model: OpenAiModel,
  task: "transcribe" | "translate",
): OpenAiJudgement {
  const fault =
    findWrongField(fields, model, task) ??
    findWrongFormat(fields, model) ??
    findWrongValue(fields) ??
    findWrongGranularity(fields) ??
    (model.family === "diarize" ? findWrongDiarization(fields) : null);
  return fault === null ? { ok: true, asked: describe(fields, model, task) } : { ok: false, fault };
}

function findWrongField(fields: Pairs, model: OpenAiModel, task: "transcribe" | "translate"): OpenAiFault | null {
  const names = new Set<string>();
  for (const [name] of fields) {
    // Clients send an object in two forms: as JSON text in one field, and as `root[member]` fields.
    const root = name.startsWith("chunking_strategy[") ? "chunking_strategy" : name;
    const isKnown = task === "translate" ? TRANSLATION_FIELDS.has(root) : isKnownField(root);
    if (!isKnown) return { message: `Unknown parameter: '${name}'.`, param: name, code: "unknown_parameter" };
    if (!takesField(model, root))
      return {
        message: `'${root}' is not supported with model '${model.name}'.`,
        param: root,
        code: "unsupported_value",
      };
    if (names.has(name) && !name.endsWith("[]"))
      return { message: `Duplicate parameter: '${name}'.`, param: name, code: "invalid_value" };
    names.add(name);
  }
  return null;
}

function findWrongFormat(fields: Pairs, model: OpenAiModel): OpenAiFault | null {
  const format = valueOf(fields, "response_format") ?? "json";
  if (!RESPONSE_FORMATS.some((known) => known === format)) {
    return {
      message: `Invalid value: '${format}'. Supported values are: ${quoted(RESPONSE_FORMATS, "and")}.`,
      param: "response_format",
      code: "invalid_value",
    };
  }
  if (model.formats.some((known) => known === format)) return null;
  // The real message names an internal model, so adapters must not match on it.
  const internalName = model.family === "whisper" ? model.name : `${model.name}-api-ev3`;
  return {
    message: `response_format '${format}' is not compatible with model '${internalName}'. Use ${quoted(model.formats, "or")} instead.`,
    param: "response_format",
    code: "unsupported_value",
  };
}

function findWrongValue(fields: Pairs): OpenAiFault | null {
  const wrong = (param: string, message: string, code = "invalid_value"): OpenAiFault => ({ message, param, code });
  const temperature = valueOf(fields, "temperature");
  if (temperature !== null && !/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(temperature))
    return wrong("temperature", "temperature must be a number between 0 and 1.");
  const stream = valueOf(fields, "stream");
  if (stream !== null && stream !== "true" && stream !== "false") return wrong("stream", "stream must be a boolean.");
  for (const [name, value] of fields) {
    if (name === "include[]" && value !== "logprobs")
      return wrong(name, `Invalid value: '${value}'. Supported values are: 'logprobs'.`);
    if ((name === "language" || name === "languages[]") && !isLanguageCode(value)) {
      return wrong(
        name,
        `Invalid language '${value}'. Language parameter must be specified in ISO-639-1 format.`,
        "invalid_language_format",
      );
    }
    if (name === "keywords[]" && value.trim() === "") return wrong(name, "A keyword is empty.");
  }
  if (valueOf(fields, "include[]") !== null && (valueOf(fields, "response_format") ?? "json") !== "json") {
    return wrong("include", "logprobs are only available with response_format 'json'.", "unsupported_value");
  }
  return findWrongChunking(fields);
}

function findWrongChunking(fields: Pairs): OpenAiFault | null {
  const text = valueOf(fields, "chunking_strategy");
  const members = fields
    .filter(([name]) => name.startsWith("chunking_strategy["))
    .map(([name, value]) => [name.slice(18, -1), value] as const);
  if (text === null && members.length === 0) return null;
  if (text === "auto" && members.length === 0) return null;
  const strategy = text === null ? Object.fromEntries(members) : parseObject(text);
  const isValid =
    strategy !== null &&
    strategy["type"] === "server_vad" &&
    Object.entries(strategy).every(
      ([name, value]) =>
        name === "type" ||
        (["prefix_padding_ms", "silence_duration_ms", "threshold"].includes(name) && Number(value) >= 0),
    );
  return isValid
    ? null
    : {
        message: "Invalid chunking_strategy: 'auto' or a server_vad object.",
        param: "chunking_strategy",
        code: "invalid_value",
      };
}

function findWrongGranularity(fields: Pairs): OpenAiFault | null {
  const param = "timestamp_granularities";
  const granularities = valuesOf(fields, `${param}[]`);
  const unknown = granularities.find((value) => value !== "word" && value !== "segment");
  if (unknown !== undefined)
    return {
      message: `Invalid value: '${unknown}'. Supported values are: 'word' and 'segment'.`,
      param,
      code: "invalid_value",
    };
  if (granularities.length === 0 || valueOf(fields, "response_format") === "verbose_json") return null;
  return { message: "timestamp_granularities needs response_format 'verbose_json'.", param, code: "unsupported_value" };
}

function findWrongDiarization(fields: Pairs): OpenAiFault | null {
  const isChunked = fields.some(([name]) => name === "chunking_strategy" || name.startsWith("chunking_strategy["));
  if (!isChunked)
    return {
      message: "chunking_strategy is required for diarization models",
      param: "chunking_strategy",
      code: "invalid_value",
    };
  const names = valuesOf(fields, "known_speaker_names[]");
  const references = valuesOf(fields, "known_speaker_references[]");
  const isPaired =
    names.length === references.length &&
    names.length <= MAX_KNOWN_SPEAKERS &&
    references.every((each) => each.startsWith("data:audio/"));
  if (isPaired) return null;
  return {
    message: `Known speakers need a name and a data URL each, ${MAX_KNOWN_SPEAKERS} at most.`,
    param: "known_speaker_references",
    code: "invalid_value",
  };
}

/** The file name's extension decides whether a format is supported, and the content must match it. */
export function findWrongAudio(fileName: string, facts: AudioFacts, model: OpenAiModel): OpenAiFault | null {
  const extension = /\.([^.]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? "";
  const unsupported = {
    message: "This model does not support the format you provided.",
    param: "messages",
    code: "unsupported_format",
  };
  if (!FILE_EXTENSIONS.has(extension)) return unsupported;
  if (!facts.ok) {
    if (!facts.isTooShort)
      return { message: "Audio file might be corrupted or unsupported", param: "file", code: "invalid_value" };
    return {
      message: `audio duration 0.0 seconds is shorter than ${MINIMUM_SECONDS} seconds which is the minimum for this model`,
      code: "invalid_value",
    };
  }
  if (!mediaTypeMatches(facts.format, null, fileName)) return unsupported;
  if (facts.durationSeconds <= model.maxSeconds) return null;
  return {
    message: `audio duration ${facts.durationSeconds} seconds is longer than ${model.maxSeconds} seconds which is the maximum for this model`,
    code: "invalid_value",
  };
}

function describe(fields: Pairs, model: OpenAiModel, task: "transcribe" | "translate"): OpenAiAsked {
  const granularities = valuesOf(fields, "timestamp_granularities[]");
  const format = RESPONSE_FORMATS.find((known) => known === valueOf(fields, "response_format")) ?? "json";
  return {
    model,
    task,
    format,
    languages: [...valuesOf(fields, "language"), ...valuesOf(fields, "languages[]")],
    hasWords: granularities.includes("word"),
    hasSegments: granularities.length === 0 || granularities.includes("segment"),
    hasLogprobs: valuesOf(fields, "include[]").includes("logprobs"),
    isStream: valueOf(fields, "stream") === "true" && model.family !== "whisper",
    speakerNames: valuesOf(fields, "known_speaker_names[]"),
  };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

const quoted = (names: readonly string[], last: string): string =>
  names
    .map((name) => `'${name}'`)
    .join(", ")
    .replace(/, ([^,]*)$/, ` ${last} $1`);
