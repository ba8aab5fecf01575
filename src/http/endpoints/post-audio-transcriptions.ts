// POST /v1/audio/transcriptions and /v1/audio/translations: transcription for OpenAI's clients [compatible.audio-formats].
import type { Principal } from "../../auth/principal.ts";
import {
  postAudioTranscriptionsContract,
  postAudioTranslationsContract,
} from "../../contract/endpoints/endpoint-compatible.ts";
import { audioTranscriptionFields, audioTranslationFields } from "../../contract/chat/openai-compatible.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import {
  deliveryOf,
  type OpenaiFieldsInput,
  toAudioAnswer,
  toAudioEvents,
  toTranscriptionFields,
} from "../compatible/audio-transcription.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { speechEndpoint, type TranscriptionEdge, type WordedSpeech } from "./post-transcription.ts";

export function postAudioTranscriptions(edge: TranscriptionEdge): Endpoint<Principal> {
  return speechEndpoint(edge, {
    contract: postAudioTranscriptionsContract,
    task: "transcribe",
    schema: audioTranscriptionFields,
    word: () => openAiWording,
  });
}

export function postAudioTranslations(edge: TranscriptionEdge): Endpoint<Principal> {
  return speechEndpoint(edge, {
    contract: postAudioTranslationsContract,
    task: "translate",
    schema: audioTranslationFields,
    word: () => openAiWording,
  });
}

/** The fields decide the format, because these clients always send `Accept: application/json`. */
function openAiWording(input: OpenaiFieldsInput): WordedSpeech {
  if (input.stream === true && (input.response_format === "srt" || input.response_format === "vtt")) {
    const message = "requires the whole transcript and cannot be streamed: omit `stream`, or use json or text.";
    throw invalidRequest("response_format", `\`response_format\` ${input.response_format} ${message}`);
  }
  return {
    fields: toTranscriptionFields(input),
    delivery: deliveryOf(input.response_format),
    present: (envelope) => toAudioAnswer(envelope, input.response_format),
    events: toAudioEvents,
  };
}
