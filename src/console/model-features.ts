// The declarable features of a model, as checkboxes and as stored in a connection.
import type { CAPABILITIES } from "../contract/features.ts";
import type { Choice } from "./plain-field.ts";

/** The first element of each is the API's name. */
export const AUDIO_FEATURES: readonly Choice[] = [
  ["timestamps.word", "Word timestamps"],
  ["timestamps.segment", "Segment timestamps"],
  ["diarization", "Speaker diarization"],
  ["redaction.pii", "Redacts personal data (pii)"],
  ["redaction.pci", "Redacts card data (pci)"],
  ["redaction.phi", "Redacts health data (phi)"],
  ["redaction.numbers", "Redacts numbers"],
  ["keyterms", "Key terms"],
  ["multichannel", "Transcribes each channel"],
  ["profanity_filter", "Masks profanity"],
  ["streaming", "Streams"],
  ["translation", "Translates into English"],
];
/** Dropped with a warning if a model lacks them. */
export const AUDIO_PREFERENCES: readonly Choice[] = [
  ["language", "Language hint"],
  ["detect_language", "Detects the language"],
  ["speaker_count_hint", "Number of speakers"],
  ["smart_formatting", "Formats numbers and dates"],
  ["prompt", "Context text"],
];
export const CHAT_FEATURES: readonly Choice[] = [
  ["tools", "Tools"],
  ["tool_choice", "Tool choice"],
  ["parallel_tool_calls", "Parallel tool calls"],
  ["response_format.json_object", "JSON objects"],
  ["response_format.json_schema", "JSON schema"],
  ["image_parts", "Images in messages"],
  ["audio_parts", "Audio in messages"],
];
export const EVERY_FEATURE: readonly string[] = [...AUDIO_FEATURES, ...AUDIO_PREFERENCES, ...CHAT_FEATURES].map(
  ([name]) => name,
);

export type Capability = (typeof CAPABILITIES)[number];

/** An entry of a connection's `models`. */
export interface Declaration {
  readonly capabilities?: readonly Capability[];
  readonly features?: Readonly<Record<string, unknown>>;
  readonly [other: string]: unknown;
}

/** Names of the features declared as supported. */
export function declaredFeatures({ features = {} }: Declaration): readonly string[] {
  return EVERY_FEATURE.filter((feature) => {
    const [name = "", part] = feature.split(".");
    const value = features[name];
    return part === undefined ? value === true : Array.isArray(value) && value.includes(part);
  });
}

/** `before`: features unchecked both before and now keep their value (false or unset); unchecking a supported one sends false. */
export function featuresOf(ticked: readonly string[], before: Declaration): Readonly<Record<string, unknown>> {
  const features: Record<string, unknown> = { ...before.features };
  for (const feature of EVERY_FEATURE) {
    const [name = "", part] = feature.split(".");
    const previous = before.features?.[name];
    if (part === undefined) {
      if (ticked.includes(feature)) features[name] = true;
      else if (previous === true) features[name] = false;
      continue;
    }
    const parts = ticked.filter((each) => each.startsWith(`${name}.`)).map((each) => each.slice(name.length + 1));
    if (parts.length > 0 || Array.isArray(previous)) features[name] = parts;
  }
  return features;
}
