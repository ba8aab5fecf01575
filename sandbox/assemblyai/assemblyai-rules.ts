// Validates options of `POST /v2/transcript`. Stricter than the provider on purpose [providers.sandbox-refusals]: refuses options that are undocumented or
// cannot be simulated, so that a wrong adapter is noticed.
import { z } from "zod";
import { isLanguageCode } from "../languages.ts";
import { isRetired } from "../retired-models.ts";

export const MAX_UPLOAD_BYTES = 2_200_000_000;
const STT_3_7 = "assemblyai-stt-3-7";
/** The newest model has no published table of features. It is treated as a universal-3, with fewer key terms. */
const UNIVERSAL_3 = ["universal-3-pro", "universal-3-5-pro", STT_3_7];
const MODELS = [...UNIVERSAL_3, "universal-2"];
const UNIVERSAL_3_LANGUAGES: ReadonlySet<string> = new Set(["en", "es", "pt", "fr", "de", "it"]);
const MAX_TERM_WORDS = 6;
const MAX_PROMPT_WORDS = 1500;

const POLICIES =
  `account_number banking_information blood_type credit_card_cvv credit_card_expiration credit_card_number date date_interval
   date_of_birth drivers_license drug duration email_address event filename gender_sexuality healthcare_number injury ip_address
   language location marital_status medical_condition medical_process money_amount nationality number_sequence occupation
   organization passport_number password person_age person_name phone_number physical_attribute political_affiliation religion
   statistics time url us_social_security_number username vehicle_id zodiac_sign`.split(/\s+/);
/** Languages that the provider documents for redaction, when the language is set explicitly. */
const REDACTION_LANGUAGES = "en es fr de it pt nl hi ja zh fi ko pl ru tr uk vi".split(" ");
const PROFANITY_LANGUAGES = "en es fr de it pt nl hi ja".split(" ");

const submission = z.strictObject({
  audio_url: z.url(),
  speech_models: z.array(z.string()).min(1),
  language_code: z.string().optional(),
  language_detection: z.boolean().optional(),
  speaker_labels: z.boolean().optional(),
  speakers_expected: z.int().min(1).optional(),
  speaker_options: z
    .strictObject({
      min_speakers_expected: z.int().min(1).optional(),
      max_speakers_expected: z.int().min(1).optional(),
    })
    .optional(),
  multichannel: z.boolean().optional(),
  keyterms_prompt: z.array(z.string().min(1)).optional(),
  prompt: z.string().optional(),
  punctuate: z.boolean().optional(),
  format_text: z.boolean().optional(),
  filter_profanity: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  remove_audio_tags: z.enum(["all", "speaker"]).optional(),
  redact_pii: z.boolean().optional(),
  redact_pii_policies: z.array(z.enum(POLICIES)).optional(),
  redact_pii_sub: z.enum(["hash", "entity_name"]).optional(),
});
export type Submission = z.infer<typeof submission>;

export interface AssemblyAiAsked {
  readonly audioUrl: string;
  readonly model: string;
  readonly options: Submission;
}
export type AssemblyAiJudgement =
  | { readonly ok: true; readonly asked: AssemblyAiAsked }
  | { readonly ok: false; readonly error: string };

export function judgeSubmission(json: unknown, nowMs: number): AssemblyAiJudgement {
  const parsed = submission.safeParse(json);
  if (!parsed.success) return { ok: false, error: z.prettifyError(parsed.error) };
  const options = parsed.data;
  const model = options.speech_models[0] ?? "";
  const error =
    findWrongModel(options, nowMs) ??
    findWrongCombination(options) ??
    findWrongTerms(options, model) ??
    findWrongSampling(options, model) ??
    findWrongLanguage(options, model);
  return error === null ? { ok: true, asked: { audioUrl: options.audio_url, model, options } } : { ok: false, error };
}

/** Both texts as users of the API report them (2026-05-19 and 2026-07-31). */
function findWrongModel({ speech_models: models }: Submission, nowMs: number): string | null {
  const isOffered = (model: string): boolean => MODELS.includes(model) && !isRetired("assemblyai", model, nowMs);
  if (models.some((model) => !MODELS.includes(model))) {
    const offered = MODELS.filter(isOffered).map((model) => `"${model}"`);
    return `"speech_models" must be a non-empty list containing one or more of: ${offered.join(", ")}`;
  }
  const retired = models.filter((model) => !isOffered(model)).map((model) => `"${model}"`);
  return retired.length === 0
    ? null
    : `The ${retired.join(", ")} speech model(s) have been deprecated. Use speech_models: ["universal-3-5-pro", "universal-2"] instead.`;
}

function findWrongSampling(options: Submission, model: string): string | null {
  const option = options.temperature === undefined ? options.remove_audio_tags : options.temperature;
  return option !== undefined && !UNIVERSAL_3.includes(model)
    ? "temperature and remove_audio_tags are not supported by this model"
    : null;
}

function findWrongCombination(options: Submission): string | null {
  if (options.language_code !== undefined && options.language_detection === true)
    return "language_code and language_detection cannot be used together";
  if (options.keyterms_prompt !== undefined && options.prompt !== undefined)
    return "prompt and keyterms_prompt cannot be used together";
  if (options.speaker_labels !== true && (options.speakers_expected ?? options.speaker_options) !== undefined)
    return "speaker_options needs speaker_labels";
  if (options.speakers_expected !== undefined && options.speaker_options !== undefined)
    return "speakers_expected and speaker_options cannot be used together";
  if (options.redact_pii === true && (options.redact_pii_policies ?? []).length === 0)
    return "redact_pii_policies must hold at least one policy";
  if (options.redact_pii !== true && (options.redact_pii_policies ?? options.redact_pii_sub) !== undefined)
    return "redact_pii_policies needs redact_pii";
  return options.redact_pii === true && options.format_text === false ? "redact_pii needs format_text" : null;
}

function findWrongTerms(options: Submission, model: string): string | null {
  const isUniversal3 = UNIVERSAL_3.includes(model);
  const terms = options.keyterms_prompt ?? [];
  const maxTerms = isUniversal3 && model !== STT_3_7 ? 1000 : 200;
  if (terms.length > maxTerms) return `keyterms_prompt takes at most ${maxTerms} terms`;
  if (terms.some((term) => words(term) > MAX_TERM_WORDS)) return `a keyterm has at most ${MAX_TERM_WORDS} words`;
  if (options.prompt === undefined) return null;
  if (!isUniversal3) return "prompt is not supported by this model";
  return words(options.prompt) > MAX_PROMPT_WORDS ? `prompt has at most ${MAX_PROMPT_WORDS} words` : null;
}

/** Reported only if the language is set explicitly. With detection an unsupported feature is silently ignored. */
function findWrongLanguage(options: Submission, model: string): string | null {
  const code = options.language_code ?? "en_us";
  if (options.language_detection === true) return null;
  const language = /^en_(us|uk|au)$/u.test(code) ? "en" : code;
  if (!isLanguageCode(language)) return `Invalid language_code: ${code}`;
  const unsupported = [
    ...(UNIVERSAL_3.includes(model) && !UNIVERSAL_3_LANGUAGES.has(language) ? [model] : []),
    ...(options.redact_pii === true && !REDACTION_LANGUAGES.includes(language) ? ["redact_pii"] : []),
    ...(options.filter_profanity === true && !PROFANITY_LANGUAGES.includes(language) ? ["filter_profanity"] : []),
  ];
  return unsupported.length === 0
    ? null
    : `The following models are not available in this language: ${unsupported.join(", ")}`;
}

function words(text: string): number {
  return text.trim().split(/\s+/u).length;
}
