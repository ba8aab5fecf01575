// Schemas of the settings of connections (provider accounts) and of models declared for them [configuration.models], shared by the configuration file and
// the admin API.
import { z } from "zod";
import { AUDIO_FORMATS } from "../transcription/audio-formats.ts";
import { LANGUAGE_TAG } from "../transcription/transcription-fields.ts";
import { dataPolicyStatement } from "./data-policy.ts";
import { CAPABILITIES, REDACTION_GROUPS } from "../features.ts";
import { PROVIDER_KINDS } from "../provider-kinds.ts";
import { HTTP_URL, ID, optionalOrNull, MODEL, SECRET_MARK, section, textOrNull } from "./kit.ts";

export const providerKind = z.enum(PROVIDER_KINDS);

/** Null: not declared, so the catalogue's value for the model applies. */
const flag = optionalOrNull(z.boolean());
const count = optionalOrNull(z.int().min(1));

const modelFeatures = section({
  timestamps: optionalOrNull(z.array(z.enum(["word", "segment"]))).describe("Time stamps that the model returns."),
  diarization: flag.describe("Separates and labels speakers."),
  redaction: optionalOrNull(z.array(z.enum(REDACTION_GROUPS))).describe(
    "Groups of personal data that the model redacts.",
  ),
  keyterms: flag.describe("Accepts terms to recognise."),
  multichannel: flag.describe("Transcribes each channel separately."),
  profanity_filter: flag.describe("Masks profanity."),
  streaming: flag.describe("Streams the transcript during recognition."),
  translation: flag.describe("Translates speech into English."),
  language: flag.describe("Accepts a language hint."),
  detect_language: flag.describe("Detects and reports the language."),
  speaker_count_hint: flag.describe("Accepts an expected number of speakers."),
  smart_formatting: flag.describe("Formats numbers and dates."),
  prompt: flag.describe("Accepts a context text."),
  tools: flag.describe("Chat: accepts `tools`."),
  tool_choice: flag.describe("Chat: accepts `tool_choice`."),
  parallel_tool_calls: flag.describe("Chat: accepts `parallel_tool_calls`."),
  response_format: optionalOrNull(z.array(z.enum(["json_object", "json_schema"]))).describe(
    "Chat: JSON modes of the model.",
  ),
  image_parts: flag.describe("Chat: accepts images in messages."),
  audio_parts: flag.describe("Chat: accepts audio in messages."),
});

const modelLimits = section({
  max_output_tokens: count.describe("Chat: maximum tokens of one answer."),
  max_bytes: count.describe("Largest audio, in bytes."),
  max_seconds: optionalOrNull(z.number().positive()).describe("Longest audio, in seconds."),
  max_channels: count.describe("Maximum channels with `multichannel`."),
  max_keyterms: count.describe("Maximum number of key terms."),
  max_keyterm_characters: count.describe("Longest key term, in characters."),
  formats: optionalOrNull(z.array(z.enum(AUDIO_FORMATS)).min(1)).describe("Accepted audio formats; not set: all."),
});

export const modelDeclaration = section({
  capabilities: z.array(z.enum(CAPABILITIES)).describe("Kinds of requests that the model can serve."),
  features: modelFeatures
    .prefault({})
    .describe("Features that requests can require; for a model outside the catalogue, undeclared ones are refused."),
  limits: modelLimits.prefault({}).describe("Limits of the model."),
  languages: optionalOrNull(z.union([z.literal("any"), z.array(LANGUAGE_TAG).min(1)])).describe(
    "Supported languages: tags, or `any`.",
  ),
  default_language: optionalOrNull(z.union([z.literal("auto"), LANGUAGE_TAG])).describe(
    "Language if none is requested: a tag, or `auto` if the model detects it.",
  ),
  dialect: optionalOrNull(z.string().min(1)).describe(
    "openai-compatible: which server it is; like the target setting `dialect`, which takes precedence.",
  ),
});

export const connectionSection = section({
  id: ID.describe("Name by which targets refer to the connection."),
  kind: providerKind.describe("Wire protocol of the provider."),
  api_key: textOrNull().meta(SECRET_MARK).describe("Credential of the provider account."),
  base_url: optionalOrNull(HTTP_URL).describe(
    "Address before the provider's documented path: `…/v1` for openai and openai-compatible, the origin for the others.",
  ),
  region: optionalOrNull(z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "a region such as eu")).describe(
    "Regional address of the provider, such as `eu`, instead of `base_url`.",
  ),
  data_policy: optionalOrNull(dataPolicyStatement).describe(
    "What was agreed with the provider for this account and no request can prove, such as zero retention.",
  ),
  timeout_seconds: z.int().min(1).max(3_600).default(600).describe("Timeout of one call, including its whole answer."),
  models: z
    .record(MODEL, modelDeclaration)
    .default({})
    .describe("Models that the catalogue lacks or describes differently; a declaration takes precedence."),
});

export type ParsedConnection = z.output<typeof connectionSection>;
