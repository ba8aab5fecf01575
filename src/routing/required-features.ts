// What a request requires of a model and what it merely prefers [routing.required-never-dropped] [routing.preference-dropped]. Pure.
import type { Feature, Preference, RedactionGroup } from "../contract/features.ts";
import type { ResponseFormat, TranscriptionFields, TranslationFields } from "../contract/transcription.ts";

/** The request's wishes after purpose defaults, merged lists and implied features. */
export interface Requirements {
  readonly task: "transcribe" | "translate";
  /** In the order of `FEATURES`; never dropped. */
  readonly features: readonly Feature[];
  readonly keyterms: readonly string[];
  readonly redaction: readonly RedactionGroup[];
  /** What a translation must be in; null when nothing is translated. */
  readonly toLanguage: string | null;
  /** The tag the caller asked for; null when silent. */
  readonly language: string | null;
  readonly detectLanguage: boolean;
  readonly speakerCountHint: number | null;
  /** null when silent: then the model's own default stands. */
  readonly smartFormatting: boolean | null;
  readonly prompt: string | null;
  readonly preferences: readonly Preference[];
  readonly responseFormat: ResponseFormat;
  /** What the answer's lists contain [transcription.lists]. */
  readonly wantsSegments: boolean;
  readonly wantsWords: boolean;
}

const NEEDS_SEGMENT_TIMES: ReadonlySet<ResponseFormat> = new Set(["verbose_json", "srt", "vtt"]);

/** `fields` already hold the purpose's defaults (see `withDefaults`). */
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

/** A purpose's defaults apply to fields that the request does not send [routing.purpose-defaults]. */
export function withDefaults(
  fields: TranslationFields,
  defaults: Readonly<Record<string, unknown>>,
): TranslationFields {
  const { keyterms: _, custom_vocabulary: __, ...others } = defaults;
  // Under either name it is one list: who sends one of them is not silent about it.
  const saysTerms = fields.keyterms !== undefined || fields.custom_vocabulary !== undefined;
  return { ...(saysTerms ? others : defaults), ...fields };
}

/** The two fields are one list, without duplicates, in order [transcription.keyterms-merged]. */
export function mergedKeyterms(fields: TranscriptionFields): readonly string[] {
  return [...new Set([...(fields.custom_vocabulary ?? []), ...(fields.keyterms ?? [])])];
}

function redactionGroups(redaction: TranscriptionFields["redaction"]): readonly RedactionGroup[] {
  if (redaction === undefined || redaction === false) return [];
  return redaction === true ? ["pii"] : [...new Set(redaction)];
}

/** `language` counts only towards models that cover it without taking a hint; judged per target. */
function askedPreferences(fields: TranscriptionFields): readonly Preference[] {
  const asked: Preference[] = [];
  if (fields.detect_language === true) asked.push("detect_language");
  if (fields.speaker_count_hint !== undefined) asked.push("speaker_count_hint");
  // Left as it was spoken is a wish too: most models format unless told, and some cannot be told.
  if (fields.smart_formatting !== undefined) asked.push("smart_formatting");
  if (fields.prompt !== undefined) asked.push("prompt");
  if (fields.language !== undefined) asked.push("language");
  return asked;
}
