// The vocabulary of features: what a caller can require of a transcript [routing.required-never-dropped].
// Everything that compares a request with a model speaks in these names.

export const REDACTION_GROUPS = ["pii", "pci", "phi", "numbers"] as const;
export type RedactionGroup = (typeof REDACTION_GROUPS)[number];

/** Features a model declares support for, one by one. */
export const FEATURES = [
  "diarization",
  "timestamps.word",
  "timestamps.segment",
  "redaction.pii",
  "redaction.pci",
  "redaction.phi",
  "redaction.numbers",
  "keyterms",
  "multichannel",
  "profanity_filter",
  "streaming",
  "translation",
] as const;
export type Feature = (typeof FEATURES)[number];

/** Preferences: dropped with a warning where a model lacks them [routing.preference-dropped]. */
export const PREFERENCES = ["detect_language", "speaker_count_hint", "smart_formatting", "prompt", "language"] as const;
export type Preference = (typeof PREFERENCES)[number];

/**
 * How a delivered feature can be seen [transcription.receipts].
 * `shown`: visible in the answer whenever there is speech. `echoed`: the provider repeats the option.
 * `sent`: nothing to see; the recorded request carries the parameter and its condition is met.
 */
export type ReceiptGrade = "shown" | "echoed" | "sent";

/**
 * Why a target cannot take a request: a feature, or one of the conditions that are not features of a model
 * but of its limits: `size`, `duration`, `format`, `channels`, `language`, `to_language`, `keyterms_limit`, `response_format`.
 * `decoder`: the route would split the audio, and this gateway cannot decode it.
 * `live_audio`: it takes files alone. `batch`: it only streams.
 */
export type Lack =
  | Feature
  | "size"
  | "duration"
  | "format"
  | "language"
  | "to_language"
  | "keyterms_limit"
  | "channels"
  | "live_audio"
  | "batch"
  | "response_format"
  | "decoder";

/** What a model takes at all; a target without it is not even judged. */
export const CAPABILITIES = ["audio_input", "chat"] as const;
export type Capability = (typeof CAPABILITIES)[number];

export const PROFILES = ["fast", "balanced", "deep"] as const;
export type Profile = (typeof PROFILES)[number];

/** What a caller can require of a chat model. */
export const CHAT_FEATURES = [
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format.json_object",
  "response_format.json_schema",
  "image_parts",
  "audio_parts",
] as const;
export type ChatFeature = (typeof CHAT_FEATURES)[number];

/** How long a reasoning model may think, in the words of OpenAI's clients; each model knows some of them. */
export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];
export const VERBOSITIES = ["low", "medium", "high"] as const;
export type Verbosity = (typeof VERBOSITIES)[number];

/** Dropped with a warning where a chat model lacks them; only the OpenAI-compatible endpoint has the last two [compatible.effort]. */
export const CHAT_PREFERENCES = ["temperature", "top_p", "seed", "stop", "reasoning_effort", "verbosity"] as const;
export type ChatPreference = (typeof CHAT_PREFERENCES)[number];
/** What can be left out: `detail` of an image belongs to a protocol rather than to a model. */
export type ChatDropped = ChatPreference | "detail";

/**
 * Why a target cannot take a chat request: a feature, more tokens asked than the model writes, or a conversation that ends with the
 * assistant's own words, which the model does not continue.
 */
export type ChatLack = ChatFeature | "max_tokens" | "assistant_prefill";
