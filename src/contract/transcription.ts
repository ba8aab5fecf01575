// Transcription as callers see it: request fields and the routed envelope [transcription.envelope].
import { z } from "zod";
import type { ErrorBody } from "./error-body.ts";
import { PROFILES, REDACTION_GROUPS } from "./features.ts";

export const RESPONSE_FORMATS = ["json", "text", "verbose_json", "diarized_json", "srt", "vtt"] as const;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

const KEYTERM = z.string().min(1).max(100);
const KEYTERMS = z.array(KEYTERM).min(1).max(1000);
/** The caller's text is checked for shape here; whether the label exists is routing's question, never a 400 [routing.purpose-label]. */
export const PURPOSE_LABEL = z
  .string()
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u, "1 to 200 visible characters");
export const PURPOSE_POLICY = z.enum(["fallback", "strict"]);

/** What may stand before an extended language, which names its language alone: `zh-yue` is `yue` (RFC 5646 section 2.2.2). */
const EXTENDABLE = ["ar", "kok", "lv", "ms", "sgn", "sw", "uz", "zh"];
const WELL_FORMED = new RegExp(
  [
    `^([A-Za-z]{2,3}|(${EXTENDABLE.map(inAnyCase).join("|")})-[A-Za-z]{3})`,
    "(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*",
    "(-[0-9A-WY-Za-wy-z](-[A-Za-z0-9]{2,8})+)*(-[Xx](-[A-Za-z0-9]{1,8})+)?$",
  ].join(""),
);

/**
 * BCP-47 as far as it names a language: not `x-…` alone, nor the irregular tags of before. Written as RFC 5646 section 2.1.1 advises:
 * providers compare. Extensions and private use say nothing of what is spoken, and providers refuse them.
 */
export const LANGUAGE_TAG = z
  .string()
  .max(35)
  .regex(WELL_FORMED, "a BCP-47 language tag such as en or pt-BR")
  .overwrite(withUsualCase);

/** The schema's pattern has no flags in OpenAPI. */
function inAnyCase(letters: string): string {
  return letters.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

function withUsualCase(tag: string): string {
  const named = tag
    .toLowerCase()
    .replace(/-[a-z0-9]-.*$/, "")
    .replace(/^[a-z]{2,3}-([a-z]{3})(?![a-z0-9])/, "$1");
  const [language = "", ...others] = named.split("-");
  return [language, ...others.map(withUsualCaseOfSubtag)].join("-");
}

function withUsualCaseOfSubtag(subtag: string): string {
  if (/^[a-z]{2}$/.test(subtag)) return subtag.toUpperCase();
  return /^[a-z]{4}$/.test(subtag) ? subtag.charAt(0).toUpperCase() + subtag.slice(1) : subtag;
}

/**
 * Every field but the audio itself. Sent as `null` counts as not sent; unknown fields are refused by the parser in
 * `http/`, which must tell route-control fields from merely unknown ones.
 */
export const transcriptionFields = z.strictObject({
  mode: z
    .enum(["batch", "async", "realtime"])
    .describe(
      "How the answer comes: at once, as a job, or as a live stream. An upload is capped by `max_audio_bytes` here whatever the mode; larger ones go to `/v1/transcription/jobs`.",
    )
    .optional(),
  stream: z.boolean().describe("Server-sent events while the transcript is made.").optional(),
  dry_run: z
    .boolean()
    .describe("Judge everything up to the call and answer with the routing decision; nothing is called or billed.")
    .optional(),
  language: LANGUAGE_TAG.describe(
    "BCP-47 tag of the spoken language; its extensions and private use are left out.",
  ).optional(),
  diarization: z.boolean().describe("Separate and label speakers.").optional(),
  speaker_count_hint: z.int().min(1).max(32).describe("How many speakers to expect; a preference.").optional(),
  timestamps: z.enum(["word", "segment", "both"]).describe("Which times to return.").optional(),
  custom_vocabulary: KEYTERMS.describe("Terms to recognise; merged with `keyterms`.").optional(),
  keyterms: KEYTERMS.describe("Terms to recognise; merged with `custom_vocabulary`.").optional(),
  smart_formatting: z
    .boolean()
    .describe("Punctuation, numbers and dates as people write them; a preference.")
    .optional(),
  detect_language: z.boolean().describe("Detect and report the language; a preference.").optional(),
  profanity_filter: z.boolean().describe("Mask profanity.").optional(),
  redaction: z
    .union([z.boolean(), z.array(z.enum(REDACTION_GROUPS)).min(1).max(REDACTION_GROUPS.length)], {
      error: `true, false, or a list of ${REDACTION_GROUPS.join(", ")}`,
    })
    .describe('Remove personal data: `true` means `["pii"]`.')
    .optional(),
  multichannel: z.boolean().describe("Transcribe each channel on its own.").optional(),
  prompt: z
    .string()
    .max(4000)
    .describe("Context text; a preference, for models that take one. Empty counts as not sent.")
    .optional(),
  response_format: z.enum(RESPONSE_FORMATS).describe("What `content` and the lists hold.").optional(),
  purpose: PURPOSE_LABEL.describe("Routing label; see `purposes` in `GET /v1/me`.").optional(),
  purpose_policy: PURPOSE_POLICY.describe(
    "What happens when the purpose cannot be used; the stricter of this and the key's wins.",
  ).optional(),
  response_profile: z.enum(PROFILES).describe("How much effort the route spends.").optional(),
});
export type TranscriptionFields = z.infer<typeof transcriptionFields>;

/** `POST /v1/translation`: the same, and the language of the answer [translation.to-language]. */
export const translationFields = transcriptionFields.extend({
  to_language: LANGUAGE_TAG.describe("BCP-47 tag of the language to translate into; `en` unless set.").optional(),
});
export type TranslationFields = z.infer<typeof translationFields>;

/** Members of `audio`. Exactly one of `base64`, `data`, `url` or a multipart `file` carries the audio [request-body.one-source]. */
export const audioFields = z.strictObject({
  base64: z
    .string()
    .describe("Base64 audio: standard or URL-safe, padding optional, line breaks and a data: prefix allowed.")
    .optional(),
  data: z.string().describe("The same as `base64`.").optional(),
  url: z.string().max(8192).describe("HTTPS URL the gateway fetches.").optional(),
  media_type: z.string().describe("A hint; the content decides.").optional(),
  filename: z.string().describe("A hint, cut at 255 bytes; the content decides.").optional(),
});

export type AudioFields = z.infer<typeof audioFields>;

export const audioMember = z.union([z.string().describe("Base64 audio."), audioFields]);

/** The JSON bodies, as documented in OpenAPI. */
export const transcriptionRequest = transcriptionFields.extend({ audio: audioMember });
export const translationRequest = translationFields.extend({ audio: audioMember });

const WARNING_CODES = [
  "PREFERENCE_DROPPED",
  "MEDIA_TYPE_MISMATCH",
  "FEATURE_EMULATED",
  "TIMES_CLAMPED",
  "PURPOSE_NOT_APPLIED",
  "PROFILE_NOT_APPLIED",
  "SIMULATED_PROVIDER",
  "TRANSLATED_BY_CHAT",
  "MULTIPLE_AUDIO_TRACKS",
  "TRAILING_DATA_IGNORED",
  "EDIT_LIST_APPLIED",
  "EMPTY_TRANSCRIPT",
  "USAGE_ESTIMATED",
  "FINISH_REASON_UNKNOWN",
  "HISTORY_FIELDS_IGNORED",
  "TOOL_SCHEMA_REWRITTEN",
] as const;

export const warning = z.strictObject({
  code: z.enum(WARNING_CODES),
  message: z.string(),
  param: z.string().nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
});
export type Warning = z.infer<typeof warning>;

const seconds = z.number().min(0);
const confidence = z.number().min(0).max(1).nullable();

export const segment = z.strictObject({
  id: z.int().min(0),
  start: seconds.describe("Seconds from the beginning of the audio."),
  end: seconds,
  text: z.string(),
  speaker: z.string().nullable().describe("`S1`, `S2`… in order of first appearance."),
  channel: z.int().min(0).nullable(),
  confidence,
});
export type Segment = z.infer<typeof segment>;

export const word = z.strictObject({
  text: z.string(),
  start: seconds,
  end: seconds,
  confidence,
  speaker: z.string().nullable(),
  channel: z.int().min(0).nullable(),
});
export type Word = z.infer<typeof word>;

const PURPOSE_SOURCES = ["body", "header", "app_default", "fallback", "none"] as const;

/** The three purpose fields of every routed answer [routing.purpose-fields]. */
export const purposeFields = z.strictObject({
  svc_requested_purpose: z.string().nullable(),
  svc_applied_purpose: z.string().nullable(),
  svc_purpose_source: z.enum(PURPOSE_SOURCES),
});
export type PurposeFields = z.infer<typeof purposeFields>;

/** The answer of `POST /v1/transcription` for every `response_format` [transcription.envelope]. */
export const transcriptionEnvelope = z.strictObject({
  id: z.string(),
  object: z.enum(["transcription", "translation"]),
  created_at: z.string(),
  status: z.literal("completed"),
  content: z.string().describe("The text, or the caption file for `srt` and `vtt`."),
  language: z.string().nullable(),
  language_confidence: confidence,
  duration_seconds: seconds,
  segments: z.array(segment),
  words: z.array(word),
  warnings: z.array(warning),
  usage: z.strictObject({
    audio_seconds: seconds.describe("Seconds of submitted audio, as the gateway measured them."),
    billable_audio_seconds: seconds,
    total_tokens: z.literal(0),
  }),
  ...purposeFields.shape,
});
export type TranscriptionEnvelope = z.infer<typeof transcriptionEnvelope>;

/** The events of a stream [transcription.stream]; `error` ends a broken one. */
export type TranscriptStreamEvent =
  | { readonly event: "transcript.delta"; readonly data: { readonly text: string } }
  | { readonly event: "transcript.segment"; readonly data: { readonly segment: Segment } }
  | { readonly event: "transcript.completed"; readonly data: { readonly envelope: TranscriptionEnvelope } }
  | { readonly event: "error"; readonly data: ErrorBody };

/** Of a target that rests. */
export const pausedUntil = z
  .string()
  .describe("There where it rests because somebody paused it by hand, and until when: no provider failed.")
  .optional();

/** The answer to `dry_run: true` [routing.dry-run-decision]. */
export const routingDecision = z.strictObject({
  object: z.literal("routing.decision"),
  outcome: z.strictObject({ status: z.int(), code: z.string().nullable(), position: z.int().nullable() }),
  candidates: z.array(
    z.strictObject({
      position: z.int(),
      eligible: z.boolean(),
      missing: z.array(z.string()),
      health: z.enum(["healthy", "resting"]),
      paused_until: pausedUntil,
      split: z
        .strictObject({ max_piece_seconds: z.number(), least_pieces: z.int() })
        .describe(
          "The audio is beyond this target's limits, or the model knows no channels: it would be sent in pieces.",
        )
        .optional(),
      connection: z.string().optional(),
      provider: z.string().optional(),
      model: z.string().optional(),
    }),
  ),
  purpose: purposeFields,
  warnings: z.array(warning),
  estimated_cost_usd: z.string().nullable(),
  audio_seconds: seconds.nullable().describe("Null for chat."),
});
export type RoutingDecision = z.infer<typeof routingDecision>;
