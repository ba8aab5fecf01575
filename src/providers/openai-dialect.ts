// How servers that speak OpenAI's audio API differ, as data.
export interface Dialect {
  readonly transcribePath: string;
  /** null: no translation. `translate`: the same path with `translate=true`. */
  readonly translate: { readonly path: string } | { readonly field: "translate" } | null;
  readonly languageField: "language" | "languages[]";
  /** The language may not be told where times are asked. */
  readonly languageOrTimes?: true;
  /** What asks for detection: silence, or a value of the language field. */
  readonly detectValue: string | null;
  /** Sent when nothing is known of the language, for servers whose silence means one language. */
  readonly silentLanguage: string | null;
  /** Where the language comes back: in any JSON, with the times only, or nowhere. */
  readonly languageIn: "json" | "verbose_json" | null;
  /** The format that carries times. `only`: there is one format, so it is not asked by name. */
  readonly timedFormat: "verbose_json" | "only" | null;
  /** Words asked by name and beside the segments, always there as tokens in the segments, or in the place of the segments. */
  readonly words: "granularity" | "tokens" | "segments" | null;
  readonly granularityField: "timestamp_granularities[]" | "timestamp_granularities";
  /** Speakers by a format of its own, or by a field beside the timed format. */
  readonly diarization: { readonly format: "diarized_json" } | { readonly field: "diarization" | "diarize" } | null;
  readonly keyterms: "prompt" | "keywords[]" | "hotwords" | "context_bias" | null;
  readonly takesPrompt: boolean;
  /** Whether `stream` brings OpenAI's events; other servers take it and ignore it, or send events of their own. */
  readonly streams: boolean;
  readonly constantFields: readonly (readonly [string, string])[];
}
