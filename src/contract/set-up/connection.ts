// Connections (stored provider accounts) and the models declared under them [configuration.models].
import { z } from "zod";
import { AUDIO_FORMATS } from "../audio-formats.ts";
import { LANGUAGE_TAG } from "../transcription.ts";
import { CAPABILITIES, REDACTION_GROUPS } from "../features.ts";
import { PROVIDER_KINDS } from "../provider-kinds.ts";
import { HTTP_URL, ID, maybe, MODEL, SECRET_MARK, section, textOrNull } from "./kit.ts";

/** null: not declared, so what the catalogue says of the model stands. */
const flag = maybe(z.boolean());
const count = maybe(z.int().min(1));

const modelFeatures = section({
  timestamps: maybe(z.array(z.enum(["word", "segment"]))).describe("Times the model returns."),
  diarization: flag.describe("Separates and labels speakers."),
  redaction: maybe(z.array(z.enum(REDACTION_GROUPS))).describe("Groups of personal data the model removes."),
  keyterms: flag.describe("Takes terms to recognise."),
  multichannel: flag.describe("Transcribes each channel on its own."),
  profanity_filter: flag.describe("Masks profanity."),
  streaming: flag.describe("Streams the transcript while it is made."),
  translation: flag.describe("Translates speech into English."),
  language: flag.describe("Takes a language hint."),
  detect_language: flag.describe("Detects and reports the language."),
  speaker_count_hint: flag.describe("Takes an expected number of speakers."),
  smart_formatting: flag.describe("Formats numbers and dates."),
  prompt: flag.describe("Takes a context text."),
  tools: flag.describe("Chat: takes `tools`."),
  tool_choice: flag.describe("Chat: takes `tool_choice`."),
  parallel_tool_calls: flag.describe("Chat: takes `parallel_tool_calls`."),
  response_format: maybe(z.array(z.enum(["json_object", "json_schema"]))).describe("Chat: JSON modes the model has."),
  image_parts: flag.describe("Chat: takes images in messages."),
  audio_parts: flag.describe("Chat: takes audio in messages."),
});

const modelLimits = section({
  max_output_tokens: count.describe("Chat: most tokens of one answer."),
  max_bytes: count.describe("Largest audio, in bytes."),
  max_seconds: maybe(z.number().positive()).describe("Longest audio, in seconds."),
  max_channels: count.describe("Most channels with `multichannel`."),
  max_keyterms: count.describe("Most key terms."),
  max_keyterm_characters: count.describe("Longest key term, in characters."),
  formats: maybe(z.array(z.enum(AUDIO_FORMATS)).min(1)).describe("Audio formats taken; not set: all."),
});

export const modelDeclaration = section({
  capabilities: z.array(z.enum(CAPABILITIES)).describe("What the model can be routed for."),
  features: modelFeatures
    .prefault({})
    .describe("What can be required of the model; for a model outside the catalogue, what is not declared is refused."),
  limits: modelLimits.prefault({}).describe("What the model takes at most."),
  languages: maybe(z.union([z.literal("any"), z.array(LANGUAGE_TAG).min(1)])).describe(
    "Languages covered: tags, or `any`.",
  ),
  default_language: maybe(z.union([z.literal("auto"), LANGUAGE_TAG])).describe(
    "Language when none is asked: a tag, or `auto` when the model detects.",
  ),
  dialect: maybe(z.string().min(1)).describe(
    "openai-compatible: which server it is; the same as the target setting `dialect`, which wins.",
  ),
});

export const connectionSection = section({
  id: ID.describe("Name by which targets refer to the connection."),
  kind: z.enum(PROVIDER_KINDS).describe("Wire protocol of the provider."),
  api_key: textOrNull().meta(SECRET_MARK).describe("Credential of the provider account."),
  base_url: maybe(HTTP_URL).describe(
    "What precedes the provider's documented path: `…/v1` for openai and openai-compatible, the origin for the others.",
  ),
  timeout_seconds: z.int().min(1).max(3_600).default(600).describe("Longest wait for one call's whole answer."),
  models: z
    .record(MODEL, modelDeclaration)
    .default({})
    .describe("Models the catalogue does not know, or knows otherwise; a declaration wins."),
});

export type ParsedConnection = z.output<typeof connectionSection>;
