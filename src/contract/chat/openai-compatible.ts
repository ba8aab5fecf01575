// Request and response schemas of the API for OpenAI clients (chat completions, audio, models). A field without meaning here is accepted if it has no effect
// [compatible.neutral-fields], and refused otherwise [compatible.meaningful-fields].
import { z } from "zod";
import { chatTool, chatToolChoice } from "./chat-parts.ts";
import { chatFieldsOfClients } from "./checked-chat-fields.ts";
import { completionMessage } from "./completion-message.ts";
import { LANGUAGE_TAG, transcriptionFields } from "../transcription/transcription-fields.ts";

/** Any text is a selection: one that names no purpose, even an empty one, is MODEL_NOT_SELECTABLE. */
const MODEL = z.string().max(264).describe("`auto`, or `purpose/<label>`; the route of the key picks the model.");

/** A default value that clients send and that changes nothing. */
const neutral = <T extends z.ZodType>(schema: T, description: string) => schema.nullish().describe(description);

const { max_tokens, temperature, top_p, seed, stop, stream, parallel_tool_calls, response_format } =
  chatFieldsOfClients.shape;
const { reasoning_effort, verbosity, data_policy } = chatFieldsOfClients.shape;

export const chatCompletionFields = z.strictObject({
  model: MODEL,
  messages: z.array(completionMessage).min(1).max(10_000).describe("The conversation so far, oldest first."),
  max_tokens,
  max_completion_tokens: max_tokens,
  temperature,
  top_p,
  seed,
  stop,
  stream,
  stream_options: z
    .strictObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
    .describe("`include_usage`: adds a last chunk with the token usage.")
    .optional(),
  tools: z.array(chatTool).max(128).describe("Functions the model may call.").optional(),
  tool_choice: chatToolChoice.optional(),
  parallel_tool_calls,
  response_format,
  reasoning_effort,
  verbosity,
  data_policy,
  n: neutral(z.literal(1), "Only one answer is supported."),
  user: neutral(z.string(), "Accepted and ignored."),
  safety_identifier: neutral(z.string(), "Accepted and ignored."),
  prompt_cache_key: neutral(z.string(), "Accepted and ignored."),
  prompt_cache_retention: neutral(z.string(), "Accepted and ignored."),
  store: neutral(z.literal(false), "Nothing is stored."),
  metadata: neutral(z.record(z.string(), z.string()), "Accepted and ignored."),
  logprobs: neutral(z.literal(false), "Not available."),
  top_logprobs: neutral(z.literal(0), "Not available."),
  logit_bias: neutral(z.strictObject({}), "Not available."),
  modalities: neutral(z.tuple([z.literal("text")]), "Text is answered."),
  service_tier: neutral(z.enum(["auto", "default"]), "Accepted and ignored; the target's setting applies."),
  frequency_penalty: neutral(z.literal(0), "Not available: any other number is refused."),
  presence_penalty: neutral(z.literal(0), "Not available: any other number is refused."),
  functions: neutral(z.array(z.unknown()).max(0), "Not available; see `tools`."),
});
export type ChatCompletionFields = z.infer<typeof chatCompletionFields>;

export const chatCompletion = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(z.looseObject({ index: z.literal(0), message: z.looseObject({ role: z.literal("assistant") }) })),
  usage: z.looseObject({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    estimated: z.literal(true).describe("Estimated by the gateway, because the provider reported none.").optional(),
  }),
});

const { prompt, response_format: audioFormat, keyterms } = transcriptionFields.shape;
const audioTemperature = z.number().min(0).max(1).describe("Accepted and ignored.").optional();

export const audioTranslationFields = z.strictObject({
  model: MODEL,
  prompt,
  response_format: audioFormat,
  temperature: audioTemperature,
  data_policy: transcriptionFields.shape.data_policy,
});

const voiceDetection = z.strictObject({
  type: z.literal("server_vad"),
  prefix_padding_ms: z.number().optional(),
  silence_duration_ms: z.number().optional(),
  threshold: z.number().optional(),
});

export const audioTranscriptionFields = audioTranslationFields.extend({
  language: LANGUAGE_TAG.describe("Language of the speech.").optional(),
  stream,
  timestamp_granularities: z
    .array(z.enum(["word", "segment"]))
    .min(1)
    .max(2)
    .describe("With `verbose_json`: time stamps to include.")
    .optional(),
  keywords: keyterms.describe("Terms to recognise, like `keyterms`."),
  chunking_strategy: z
    .union([z.literal("auto"), voiceDetection])
    .describe("Accepted and ignored; an object as JSON, or its members as `chunking_strategy[type]`.")
    .optional(),
});
export type AudioTranscriptionFields = z.infer<typeof audioTranscriptionFields>;

export const listedModel = z.strictObject({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.literal("patchbay"),
});
export type ListedModel = z.infer<typeof listedModel>;

export const modelList = z.strictObject({ object: z.literal("list"), data: z.array(listedModel) });
export type ModelList = z.infer<typeof modelList>;
