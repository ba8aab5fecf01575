// Translates OpenAI's transcription requests and responses to and from this API's. Pure [compatible.audio-fields].
import type { AudioTranscriptionFields } from "../../contract/chat/openai-compatible.ts";
import type { ResponseFormat, TranslationFields } from "../../contract/transcription/transcription-fields.ts";
import type { TranscriptionEnvelope } from "../../contract/transcription/transcription-envelope.ts";
import type { Delivery } from "../../gateway/transcription/delivery.ts";
import { toErrorBody } from "../reply/error-reply.ts";
import type { WordTranscript } from "../reply/transcript-events.ts";
import { languageName } from "./language-name.ts";
import { purposeOfModel } from "./model-purpose.ts";

/** A translation has fewer fields. */
export type OpenaiFieldsInput = Partial<AudioTranscriptionFields> & Pick<AudioTranscriptionFields, "model">;

/** `temperature` and `chunking_strategy` control OpenAI's own models and are ignored. */
export function toTranscriptionFields(input: OpenaiFieldsInput): TranslationFields {
  const { model, language, prompt, response_format, stream, keywords, timestamp_granularities: granularities } = input;
  const { data_policy } = input;
  const purpose = purposeOfModel(model);
  const timestamps = granularities === undefined ? undefined : granularities.length > 1 ? "both" : granularities[0];
  return {
    ...(language === undefined ? {} : { language }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(response_format === undefined ? {} : { response_format }),
    ...(stream === undefined ? {} : { stream }),
    ...(keywords === undefined ? {} : { keyterms: keywords }),
    ...(timestamps === undefined ? {} : { timestamps }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(data_policy === undefined ? {} : { data_policy }),
  };
}

/** OpenAI's `response_format` also decides the format of the body. */
export function deliveryOf(format: ResponseFormat | undefined): Delivery {
  return format === "text" || format === "srt" || format === "vtt" ? format : "json";
}

export function toAudioAnswer(envelope: TranscriptionEnvelope, format: ResponseFormat | undefined): object {
  const text = envelope.content;
  const usage = { type: "duration", seconds: Math.ceil(envelope.usage.audio_seconds) };
  if (format !== "verbose_json" && format !== "diarized_json") return { text, usage };
  const head = {
    task: envelope.object === "translation" ? "translate" : "transcribe",
    duration: envelope.duration_seconds,
    text,
  };
  if (format === "diarized_json") {
    return { ...head, segments: envelope.segments.map(toSegmentEvent), usage };
  }
  return {
    ...head,
    // The language of the text, which is always English for a translation.
    language: envelope.object === "translation" ? "english" : languageName(envelope.language),
    segments: envelope.segments.map((segment) => ({ ...UNKNOWN, ...segmentOf(segment) })),
    ...(envelope.words.length === 0
      ? {}
      : { words: envelope.words.map(({ text: word, start, end }) => ({ word, start, end })) }),
    usage,
  };
}

/** Converts the parts of a stream to OpenAI's events. `done` is only sent after a regular end. */
export const toAudioEvents: WordTranscript = async function* (parts, errors) {
  for await (const part of parts) {
    switch (part.kind) {
      case "text":
        yield { data: { type: "transcript.text.delta", delta: part.text } };
        break;
      case "segment":
        yield { data: toSegmentEvent(part.segment) };
        break;
      case "completed":
        yield { data: { type: "transcript.text.done", ...toAudioAnswer(part.envelope, undefined) } };
        break;
      case "error":
        yield { data: toErrorBody(part.error, errors) };
        break;
    }
  }
};

function toSegmentEvent({ id, start, end, text, speaker }: TranscriptionEnvelope["segments"][number]): object {
  return { type: "transcript.text.segment", id: `seg_${id}`, start, end, text, speaker };
}

/** Fields that OpenAI's clients require and only its own models provide. */
const UNKNOWN = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
} as const;

function segmentOf({ id, start, end, text }: TranscriptionEnvelope["segments"][number]): object {
  return { id, start, end, text };
}
