// Maps other providers' field names to this API's names, for the hint in an error message. A field with another provider's name is still refused like
// any unknown field.
const OURS: Readonly<Record<string, string>> = {
  diarize: "diarization",
  speaker_labels: "diarization",
  enable_speaker_diarization: "diarization",
  num_speakers: "speaker_count_hint",
  speakers_expected: "speaker_count_hint",
  max_speakers: "speaker_count_hint",
  language_code: "language",
  source_language: "language",
  target_language: "to_language",
  timestamp_granularities: "timestamps",
  timestamps_granularity: "timestamps",
  enable_word_time_offsets: "timestamps",
  keywords: "keyterms",
  keyterms_prompt: "keyterms",
  word_boost: "keyterms",
  hotwords: "keyterms",
  phrases: "keyterms",
  smart_format: "smart_formatting",
  punctuate: "smart_formatting",
  format_text: "smart_formatting",
  language_detection: "detect_language",
  filter_profanity: "profanity_filter",
  redact: "redaction",
  redact_pii: "redaction",
  use_multi_channel: "multichannel",
  max_completion_tokens: "max_tokens",
  max_output_tokens: "max_tokens",
  stop_sequences: "stop",
};

/** Null: the name is not an alias of any of `fields`. */
export function ourNameOf(name: string, fields: Readonly<Record<string, unknown>>): string | null {
  const baseName = name.endsWith("[]") ? name.slice(0, -2) : name;
  const ours = Object.hasOwn(OURS, baseName) ? OURS[baseName] : undefined;
  return ours !== undefined && Object.hasOwn(fields, ours) ? ours : null;
}
