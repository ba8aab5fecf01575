// Schemas of the request fields of POST /v1/transcription and /v1/translation, with their values and limits.
import { z } from "zod";
import { dataPolicyRequirement } from "../settings/data-policy.ts";
import { PROFILES, REDACTION_GROUPS } from "../features.ts";

export const RESPONSE_FORMATS = ["json", "text", "verbose_json", "diarized_json", "srt", "vtt"] as const;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

const KEYTERM = z.string().min(1).max(100);
export const KEYTERMS = z.array(KEYTERM).min(1).max(1000);
export const REDACTION = z.union([z.boolean(), z.array(z.enum(REDACTION_GROUPS)).min(1).max(REDACTION_GROUPS.length)], {
  error: `true, false, or a list of ${REDACTION_GROUPS.join(", ")}`,
});
/** Checks the syntax only; an unknown label is handled by routing and is never a 400 [routing.purpose-label]. */
export const PURPOSE_LABEL = z
  .string()
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u, "1 to 200 visible characters");
export const PURPOSE_POLICY = z.enum(["fallback", "strict"]);

/** Prefixes of an extended language, which alone names the language: `zh-yue` is `yue` (RFC 5646 section 2.2.2). */
const EXTENDABLE = ["ar", "kok", "lv", "ms", "sgn", "sw", "uz", "zh"];
const WELL_FORMED = new RegExp(
  [
    `^([A-Za-z]{2,3}|(${EXTENDABLE.map(inAnyCase).join("|")})-[A-Za-z]{3})`,
    "(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*",
    "(-[0-9A-WY-Za-wy-z](-[A-Za-z0-9]{2,8})+)*(-[Xx](-[A-Za-z0-9]{1,8})+)?$",
  ].join(""),
);

/**
 * BCP 47 tags that name a language: neither `x-…` alone nor the irregular tags. Written in the case that RFC 5646 section 2.1.1 recommends, because providers
 * compare texts. Extensions and private use do not describe speech, and providers refuse them.
 */
export const LANGUAGE_TAG = z
  .string()
  .max(35)
  .regex(WELL_FORMED, "a BCP-47 language tag such as en or pt-BR")
  .overwrite(withUsualCase);

/** Patterns in OpenAPI have no flags. */
function inAnyCase(letters: string): string {
  return letters.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

function withUsualCase(tag: string): string {
  const languageTag = tag
    .toLowerCase()
    .replace(/-[a-z0-9]-.*$/, "")
    .replace(/^[a-z]{2,3}-([a-z]{3})(?![a-z0-9])/, "$1");
  const [language = "", ...others] = languageTag.split("-");
  return [language, ...others.map(withUsualCaseOfSubtag)].join("-");
}

function withUsualCaseOfSubtag(subtag: string): string {
  if (/^[a-z]{2}$/.test(subtag)) return subtag.toUpperCase();
  return /^[a-z]{4}$/.test(subtag) ? subtag.charAt(0).toUpperCase() + subtag.slice(1) : subtag;
}

/**
 * All fields except the audio. `null` counts as not sent. Unknown fields are refused by the parser in `http/`, which distinguishes route-control fields from
 * merely unknown ones.
 */
export const transcriptionFields = z.strictObject({
  mode: z
    .enum(["batch", "async", "realtime"])
    .describe(
      "How the answer is returned: at once, as a job, or as a live stream. Uploads here are limited by `max_audio_bytes` in every mode; send larger ones to `/v1/transcription/jobs`.",
    )
    .optional(),
  stream: z.boolean().describe("Send the transcript as server-sent events during recognition.").optional(),
  dry_run: z
    .boolean()
    .describe(
      "Check everything up to the call and return the routing decision. No provider is called and nothing is billed.",
    )
    .optional(),
  language: LANGUAGE_TAG.describe(
    "BCP-47 tag of the spoken language; extensions and private use are ignored.",
  ).optional(),
  diarization: z.boolean().describe("Separate and label speakers.").optional(),
  speaker_count_hint: z.int().min(1).max(32).describe("Expected number of speakers; a preference.").optional(),
  timestamps: z.enum(["word", "segment", "both"]).describe("Time stamps to return.").optional(),
  custom_vocabulary: KEYTERMS.describe("Terms to recognise; merged with `keyterms`.").optional(),
  keyterms: KEYTERMS.describe("Terms to recognise; merged with `custom_vocabulary`.").optional(),
  smart_formatting: z
    .boolean()
    .describe("Punctuation, numbers and dates as people write them; a preference.")
    .optional(),
  detect_language: z.boolean().describe("Detect and report the language; a preference.").optional(),
  profanity_filter: z.boolean().describe("Mask profanity.").optional(),
  redaction: REDACTION.describe('Remove personal data: `true` means `["pii"]`.').optional(),
  multichannel: z.boolean().describe("Transcribe each channel separately.").optional(),
  prompt: z
    .string()
    .max(4000)
    .describe("Context text; a preference, for models that accept one. Empty counts as not sent.")
    .optional(),
  response_format: z.enum(RESPONSE_FORMATS).describe("Format of `content` and the lists.").optional(),
  purpose: PURPOSE_LABEL.describe("Routing label; see `purposes` in `GET /v1/me`.").optional(),
  purpose_policy: PURPOSE_POLICY.describe(
    "What happens if the purpose cannot be used; the stricter of this and the key's applies.",
  ).optional(),
  response_profile: z.enum(PROFILES).describe("Effort that the route spends.").optional(),
  data_policy: dataPolicyRequirement
    .describe("What the provider must guarantee about the data; adds to what app, purpose and route require.")
    .optional(),
});
export type TranscriptionFields = z.infer<typeof transcriptionFields>;

/** `POST /v1/translation`: the same fields, and the target language [translation.to-language]. */
export const translationFields = transcriptionFields.extend({
  to_language: LANGUAGE_TAG.describe("BCP-47 tag of the target language. Default: `en`.").optional(),
});
export type TranslationFields = z.infer<typeof translationFields>;

/** Members of `audio`. The audio is in exactly one of `base64`, `data`, `url` and a multipart `file` [request-body.one-source]. */
export const audioFields = z.strictObject({
  base64: z
    .string()
    .describe("Base64 audio: standard or URL-safe, padding optional, line breaks and a data: prefix allowed.")
    .optional(),
  data: z.string().describe("Same as `base64`.").optional(),
  url: z.string().max(8192).describe("HTTPS URL that the gateway fetches.").optional(),
  media_type: z.string().describe("A hint; the content decides.").optional(),
  filename: z.string().describe("A hint, cut at 255 bytes; the content decides.").optional(),
});

export type AudioFields = z.infer<typeof audioFields>;

export const audioMember = z.union([z.string().describe("Base64 audio."), audioFields]);

/** The JSON bodies for OpenAPI. */
export const transcriptionRequest = transcriptionFields.extend({ audio: audioMember });
export const translationRequest = translationFields.extend({ audio: audioMember });
