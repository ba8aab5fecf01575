// Derives from a request what it requires of a model and what it merely prefers [routing.required-never-dropped] [routing.preference-dropped].
// `decide-route.ts` refuses. Pure.
import type { Feature, Preference, RedactionGroup } from "../contract/features.ts";
import type {
  ResponseFormat,
  TranscriptionFields,
  TranslationFields,
} from "../contract/transcription/transcription-fields.ts";

/** The requirements after purpose defaults, merged lists and implied features. */
export interface Requirements {
  readonly task: "transcribe" | "translate";
  /** In the order of `FEATURES`; never dropped. */
  readonly features: readonly Feature[];
  readonly keyterms: readonly string[];
  readonly redaction: readonly RedactionGroup[];
  /** The language of a translation. Null: nothing is translated. */
  readonly toLanguage: string | null;
  /** The language tag that the caller sent. Null: not sent. */
  readonly language: string | null;
  readonly detectLanguage: boolean;
  readonly speakerCountHint: number | null;
  /** Null: not sent, and the model's own default applies. */
  readonly smartFormatting: boolean | null;
  readonly prompt: string | null;
  readonly preferences: readonly Preference[];
  readonly responseFormat: ResponseFormat;
  /** Which lists the answer contains [transcription.lists]. */
  readonly wantsSegments: boolean;
  readonly wantsWords: boolean;
}

const NEEDS_SEGMENT_TIMES: ReadonlySet<ResponseFormat> = new Set(["verbose_json", "srt", "vtt"]);

/** `fields` already contain the purpose's defaults (see `withDefaults`). */
export function requiredFeatures(fields: TranslationFields, task: Requirements["task"]): Requirements {
  const responseFormat = fields.response_format ?? "json";
  const keyterms = mergedKeyterms(fields);
  const redaction = redactionGroups(fields.redaction);
  const diarization = fields.diarization === true || responseFormat === "diarized_json";
  const wordTimes = fields.timestamps === "word" || fields.timestamps === "both";
  const segmentTimes =
    fields.timestamps === "segment" || fields.timestamps === "both" || NEEDS_SEGMENT_TIMES.has(responseFormat);
  const features: Feature[] = [];
  if (diarization) features.push("diarization");
  if (wordTimes) features.push("timestamps.word");
  if (segmentTimes) features.push("timestamps.segment");
  features.push(...redaction.map((group) => `redaction.${group}` as const));
  if (keyterms.length > 0) features.push("keyterms");
  if (fields.multichannel === true) features.push("multichannel");
  if (fields.profanity_filter === true) features.push("profanity_filter");
  if (fields.stream === true || fields.mode === "realtime") features.push("streaming");
  if (task === "translate") features.push("translation");
  return {
    task,
    features,
    keyterms,
    redaction,
    toLanguage: task === "translate" ? (fields.to_language ?? "en") : null,
    language: fields.language ?? null,
    detectLanguage: fields.detect_language === true,
    speakerCountHint: fields.speaker_count_hint ?? null,
    smartFormatting: fields.smart_formatting ?? null,
    prompt: fields.prompt ?? null,
    preferences: askedPreferences(fields),
    responseFormat,
    wantsSegments: segmentTimes || diarization || fields.multichannel === true,
    wantsWords: wordTimes,
  };
}

/** Merges the two fields into one list without duplicates, in order [transcription.keyterms-merged]. */
export function mergedKeyterms(fields: TranscriptionFields): readonly string[] {
  return [...new Set([...(fields.custom_vocabulary ?? []), ...(fields.keyterms ?? [])])];
}

function redactionGroups(redaction: TranscriptionFields["redaction"]): readonly RedactionGroup[] {
  if (redaction === undefined || redaction === false) return [];
  return redaction === true ? ["pii"] : [...new Set(redaction)];
}

/** `language` is a preference only for models that cover the language but accept no hint. That is judged per target. */
function askedPreferences(fields: TranscriptionFields): readonly Preference[] {
  const preferences: Preference[] = [];
  if (fields.detect_language === true) preferences.push("detect_language");
  if (fields.speaker_count_hint !== undefined) preferences.push("speaker_count_hint");
  // `false` is a preference too: most models format by default, and some cannot switch it off.
  if (fields.smart_formatting !== undefined) preferences.push("smart_formatting");
  if (fields.prompt !== undefined) preferences.push("prompt");
  if (fields.language !== undefined) preferences.push("language");
  return preferences;
}
