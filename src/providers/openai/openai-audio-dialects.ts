// Dialects of OpenAI's audio API, as data: how servers differ.
import type { ModelNames } from "../answered-model.ts";

export interface Dialect {
  readonly transcribePath: string;
  /** Null: no translation. `translate`: the same path with `translate=true`. */
  readonly translate: { readonly path: string } | { readonly field: "translate" } | null;
  readonly languageField: "language" | "languages[]";
  /** The language parameter cannot be combined with times. */
  readonly languageOrTimes?: true;
  /** The value of the language field that requests detection. Null: an absent field. */
  readonly detectValue: string | null;
  /** Sent if the language is unknown, to servers that otherwise assume one language. */
  readonly silentLanguage: string | null;
  /** Where the language is reported: in any JSON, only with times, or nowhere. */
  readonly languageIn: "json" | "verbose_json" | null;
  /** The format that contains times. `only`: there is one format, so no parameter requests it. */
  readonly timedFormat: "verbose_json" | "only" | null;
  /** Words are requested by granularity next to the segments, always included as tokens in the segments, or returned instead of the segments. */
  readonly words: "granularity" | "tokens" | "segments" | null;
  readonly granularityField: "timestamp_granularities[]" | "timestamp_granularities";
  /** Speakers are requested by a separate format, or by a field next to the timed format. */
  readonly diarization: { readonly format: "diarized_json" } | { readonly field: "diarization" | "diarize" } | null;
  readonly keyterms: "prompt" | "keywords[]" | "hotwords" | "context_bias" | null;
  readonly takesPrompt: boolean;
  /** Whether `stream` returns OpenAI's events. Other servers ignore it, or send their own events. */
  readonly streams: boolean;
  /** How each answer names the model. Absent: its protocol has no field, so only an answer that reports one anyway is judged. */
  readonly modelNames?: ModelNames;
  readonly constantFields: readonly (readonly [string, string])[];
}
