// The names of everything that a caller can require or prefer of a model [routing.required-never-dropped]: features, preferences, capabilities and profiles.
// All comparisons of a request with a model use these names.

export const REDACTION_GROUPS = ["pii", "pci", "phi", "numbers"] as const;
export type RedactionGroup = (typeof REDACTION_GROUPS)[number];

/** Features that a model declares individually. */
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
 * How delivery of a feature can be verified [transcription.receipts]. `shown`: visible in the answer whenever there is speech. `echoed`: the provider repeats
 * the option. `sent`: only the recorded request proves it: it contains the parameter, and its condition is met.
 */
export type ReceiptGrade = "shown" | "echoed" | "sent";

/**
 * Why a target cannot take a request: a missing feature, or a limit of the model: `size`, `duration`, `format`, `channels`, `language`, `to_language`,
 * `keyterms_limit`, `response_format`. `decoder`: the model gets samples or pieces, and this gateway cannot decode the recording. `live_audio`: it accepts files only.
 * `batch`: it only streams. `recording`: the model accepts certain recordings only. `model_not_installed`, `engine_not_installed`: of a model on this machine.
 * `not_offered`: no adapter speaks the model's protocol.
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
  | "decoder"
  | "recording"
  | "model_not_installed"
  | "engine_not_installed"
  | "not_offered";

/** Required before anything else: a target without the capability is not checked further. */
export const CAPABILITIES = ["audio_input", "chat"] as const;
export type Capability = (typeof CAPABILITIES)[number];

export const PROFILES = ["fast", "balanced", "deep"] as const;
export type Profile = (typeof PROFILES)[number];

/** Features that a caller can require of a chat model. */
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

/** Reasoning effort in OpenAI's vocabulary; each model supports some of the values. */
export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];
export const VERBOSITIES = ["low", "medium", "high"] as const;
export type Verbosity = (typeof VERBOSITIES)[number];

/** Dropped with a warning if a chat model lacks them. Only the OpenAI-compatible endpoint has the last two [compatible.effort]. */
export const CHAT_PREFERENCES = ["temperature", "top_p", "seed", "stop", "reasoning_effort", "verbosity"] as const;
export type ChatPreference = (typeof CHAT_PREFERENCES)[number];
/** Droppable fields: `detail` of an image depends on a protocol rather than on a model. */
export type ChatDropped = ChatPreference | "detail";

/**
 * Why a target cannot take a chat request: a missing feature, more tokens than the model can write, or a conversation that ends with an assistant message,
 * which the model cannot continue.
 */
export type ChatLack = ChatFeature | "max_tokens" | "assistant_prefill";
