// Declares the OpenAI-compatible endpoints: /v1/chat/completions, /v1/audio/transcriptions, /v1/audio/translations and /v1/models.
import { z } from "zod";
import { CHAT_ERRORS } from "./endpoint-chat.ts";
import type { EndpointContract } from "./endpoint.ts";
import { routedHeaders, SPEECH_ERRORS, TRANSLATION_ERRORS } from "./endpoint-transcription.ts";
import { SIMULATED } from "./response-names.ts";
import {
  audioTranscriptionFields,
  audioTranslationFields,
  chatCompletion,
  chatCompletionFields,
  listedModel,
  modelList,
} from "../chat/openai-compatible.ts";

const file = z.string().meta({ format: "binary" }).describe("The audio.");

export const postChatCompletionsContract: EndpointContract = {
  method: "POST",
  path: "/v1/chat/completions",
  operationId: "createChatCompletion",
  summary: "Answer a conversation (OpenAI-compatible)",
  description:
    "The same as `POST /v1/chat` in OpenAI's format. With `stream: true` the answer is a stream of `chat.completion.chunk` and ends with `[DONE]`. With the Vercel AI SDK use `openai.chat('auto')`: its default calls `/v1/responses`, which is not supported.",
  auth: "key",
  scope: "chat",
  isRouted: true,
  requestBody: { json: chatCompletionFields },
  headers: routedHeaders,
  responses: {
    200: {
      description: "The completion, or its stream.",
      content: { "application/json": chatCompletion, "text/event-stream": z.string() },
      headers: SIMULATED,
    },
  },
  errors: ["ROUTE_CONTROL_FIELD_REJECTED", "MODEL_NOT_SELECTABLE", ...CHAT_ERRORS],
};

export const audioTranscriptionForm = audioTranscriptionFields.extend({ file });
export const audioTranslationForm = audioTranslationFields.extend({ file });
export const audioText = z.looseObject({ text: z.string() });

const audioContract = {
  method: "POST",
  auth: "key",
  scope: "transcribe",
  isRouted: true,
  headers: routedHeaders,
  responses: {
    200: {
      description: "The transcript in the requested format: JSON, plain text, srt or vtt.",
      content: {
        "application/json": audioText,
        "text/plain": z.string(),
        "application/x-subrip": z.string(),
        "text/vtt": z.string(),
      },
      headers: SIMULATED,
    },
  },
} as const satisfies Partial<EndpointContract>;

export const postAudioTranscriptionsContract: EndpointContract = {
  ...audioContract,
  path: "/v1/audio/transcriptions",
  operationId: "createAudioTranscription",
  summary: "Transcribe audio (OpenAI-compatible)",
  responses: {
    200: {
      ...audioContract.responses[200],
      description: `${audioContract.responses[200].description} With \`stream\`, OpenAI's transcript events.`,
      content: { ...audioContract.responses[200].content, "text/event-stream": z.string() },
    },
  },
  requestBody: { multipart: audioTranscriptionForm },
  errors: ["MODEL_NOT_SELECTABLE", ...SPEECH_ERRORS],
};

export const postAudioTranslationsContract: EndpointContract = {
  ...audioContract,
  path: "/v1/audio/translations",
  operationId: "createAudioTranslation",
  summary: "Translate audio into English text (OpenAI-compatible)",
  requestBody: { multipart: audioTranslationForm },
  errors: ["MODEL_NOT_SELECTABLE", ...TRANSLATION_ERRORS],
};

export const getModelsContract: EndpointContract = {
  method: "GET",
  path: "/v1/models",
  operationId: "listModels",
  summary: "List the models of the OpenAI-compatible endpoints",
  description: "`auto`, and `purpose/<label>` for each published and enabled purpose of the key.",
  auth: "key",
  responses: { 200: { description: "The list.", content: { "application/json": modelList } } },
  errors: [],
};

const oneModel = {
  method: "GET",
  auth: "key",
  responses: { 200: { description: "As in the list.", content: { "application/json": listedModel } } },
  errors: ["NOT_FOUND"],
} as const satisfies Partial<EndpointContract>;

export const getModelContract: EndpointContract = {
  ...oneModel,
  path: "/v1/models/:model",
  aliasPattern: /^\/v1\/models\/purpose%2F[a-z0-9][a-z0-9_-]{0,62}(?:\?|$)/u,
  operationId: "getModel",
  summary: "Get a model",
  description: "`auto`, or `purpose%2F<label>`, as OpenAI's client encodes it.",
};

export const getPurposeModelContract: EndpointContract = {
  ...oneModel,
  path: "/v1/models/purpose/:purpose",
  operationId: "getPurposeModel",
  summary: "Get a model by its purpose",
};
