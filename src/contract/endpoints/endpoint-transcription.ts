// Declares the endpoints POST /v1/transcription and POST /v1/translation: their bodies, headers, responses and error codes.
import { z } from "zod";
import type { EndpointContract } from "./endpoint.ts";
import type { ErrorCode } from "../errors.ts";
import { acceptedJob } from "../jobs.ts";
import { REPLAYED, SIMULATED } from "./response-names.ts";
import {
  audioFields,
  PURPOSE_POLICY,
  transcriptionFields,
  transcriptionRequest,
  translationFields,
  translationRequest,
} from "../transcription/transcription-fields.ts";
import { routingDecision, transcriptionEnvelope } from "../transcription/transcription-envelope.ts";

const binary = z.string().meta({ format: "binary" });

/** Parts of a multipart form other than text fields: the file, or a dotted member of `audio`. */
export const formAudio = {
  file: binary.describe("The audio.").optional(),
  "audio.base64": audioFields.shape.base64,
  "audio.data": audioFields.shape.data,
  "audio.url": audioFields.shape.url,
  "audio.media_type": audioFields.shape.media_type,
  "audio.filename": audioFields.shape.filename,
};

export const routedHeaders = z.object({
  "X-SVC-Purpose": z.string().max(200).describe("Routing label. If both are sent, the body field wins.").optional(),
  "X-SVC-Purpose-Policy": PURPOSE_POLICY.describe("What happens if the purpose cannot be used.").optional(),
  "Idempotency-Key": z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/)
    .describe(
      "Makes retries safe: the same key and payload return the stored answer, without a second provider call or charge, for 24 hours. An `audio.url` with a new signature is a different payload.",
    )
    .optional(),
});

/** Errors of a speech-to-text request on any endpoint. */
export const SPEECH_ERRORS = [
  "ROUTE_CONTROL_FIELD_REJECTED",
  "AUDIO_URL_REJECTED",
  "BUDGET_EXCEEDED",
  "CREDITS_REQUIRED",
  "IDEMPOTENCY_KEY_REUSED",
  "IDEMPOTENCY_REPLAY_IN_PROGRESS",
  "IDEMPOTENT_RESULT_UNAVAILABLE",
  "AUDIO_TOO_LARGE",
  "AUDIO_FETCH_FAILED",
  "INVALID_AUDIO",
  "AUDIO_TOO_LONG",
  "REQUIRED_FEATURE_UNSUPPORTED",
  "RATE_LIMITED",
  "CONCURRENCY_LIMITED",
  "FEATURE_NOT_DELIVERED",
  "PROVIDER_REJECTED",
  "PROVIDER_RESULT_UNKNOWN",
  "audio_purpose_unavailable",
  "NO_HEALTHY_PROVIDER",
  "OVERLOADED",
  "SHUTTING_DOWN",
  "PROVIDER_TIMEOUT",
] as const satisfies readonly ErrorCode[];

/** A translation may use a chat model. */
export const TRANSLATION_ERRORS = [...SPEECH_ERRORS, "all_providers_exhausted"] as const satisfies readonly ErrorCode[];

export const transcriptionForm = transcriptionFields.extend(formAudio);
export const translationForm = translationFields.extend(formAudio);
export const transcriptionOrDecision = z.union([transcriptionEnvelope, routingDecision]);

export const postTranscriptionContract: EndpointContract = {
  method: "POST",
  path: "/v1/transcription",
  operationId: "createTranscription",
  summary: "Transcribe audio",
  description:
    "Routes the audio to a model of the key's route that supports everything requested, or refuses. The answer is the JSON envelope for every `response_format`. `Accept: text/plain`, `application/x-subrip` or `text/vtt` returns the plain body instead and, without `response_format`, selects the matching one: the text with its speakers, or the captions. With `stream: true` the answer is an event stream, from streaming models only: `transcript.delta`, `transcript.segment`, then `transcript.completed` with the whole envelope. A stream that breaks after its first content ends with one `error` event instead.",
  auth: "key",
  scope: "transcribe",
  isRouted: true,
  requestBody: { json: transcriptionRequest, multipart: transcriptionForm },
  headers: routedHeaders,
  responses: {
    200: {
      description: "The transcript, or with `dry_run` the routing decision.",
      content: {
        "application/json": transcriptionOrDecision,
        "text/plain": z.string(),
        "application/x-subrip": z.string(),
        "text/vtt": z.string(),
        "text/event-stream": z.string(),
      },
      headers: { ...REPLAYED, ...SIMULATED },
    },
    202: {
      ...acceptedJob,
      description: `With \`mode: async\`, which requires the scope jobs. ${acceptedJob.description}`,
    },
  },
  errors: ["NOT_ACCEPTABLE", ...SPEECH_ERRORS],
};

export const postTranslationContract: EndpointContract = {
  ...postTranscriptionContract,
  path: "/v1/translation",
  operationId: "createTranslation",
  summary: "Transcribe speech and translate it",
  description:
    "Like `POST /v1/transcription`, with the text in `to_language`: by a model of the key's route that translates into it, or refused. `language` in the answer is the spoken language, if the model reports it.",
  requestBody: { json: translationRequest, multipart: translationForm },
  errors: ["NOT_ACCEPTABLE", ...TRANSLATION_ERRORS],
};
