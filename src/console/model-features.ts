// What can be declared of a model, as a person ticks it and as a connection holds it.
import type { CAPABILITIES } from "../contract/features.ts";
import type { Choice } from "./plain-field.ts";

/** The first word of each is the API's. */
export const AUDIO_FEATURES: readonly Choice[] = [
  ["timestamps.word", "Times of words"],
  ["timestamps.segment", "Times of segments"],
  ["diarization", "Separates speakers"],
  ["redaction.pii", "Removes personal data (pii)"],
  ["redaction.pci", "Removes card data (pci)"],
  ["redaction.phi", "Removes health data (phi)"],
  ["redaction.numbers", "Removes numbers"],
  ["keyterms", "Takes key terms"],
  ["multichannel", "Transcribes each channel"],
  ["profanity_filter", "Masks profanity"],
  ["streaming", "Streams"],
  ["translation", "Translates into English"],
];
/** Dropped with a warning where a model lacks them. */
export const AUDIO_PREFERENCES: readonly Choice[] = [
  ["language", "Takes a language"],
  ["detect_language", "Detects the language"],
  ["speaker_count_hint", "Takes a number of speakers"],
  ["smart_formatting", "Formats numbers and dates"],
  ["prompt", "Takes a context text"],
];
export const CHAT_FEATURES: readonly Choice[] = [
  ["tools", "Tools"],
  ["tool_choice", "Choice of a tool"],
  ["parallel_tool_calls", "Several tool calls at once"],
  ["response_format.json_object", "JSON objects"],
  ["response_format.json_schema", "JSON by a schema"],
  ["image_parts", "Images in messages"],
  ["audio_parts", "Audio in messages"],
];
export const EVERY_FEATURE: readonly string[] = [...AUDIO_FEATURES, ...AUDIO_PREFERENCES, ...CHAT_FEATURES].map(
  ([name]) => name,
);

export type Capability = (typeof CAPABILITIES)[number];

/** As a connection's `models` hold it. */
export interface Declaration {
  readonly capabilities?: readonly Capability[];
  readonly features?: Readonly<Record<string, unknown>>;
  readonly [other: string]: unknown;
}

/** The names of what it says yes to. */
export function declaredFeatures({ features = {} }: Declaration): readonly string[] {
  return EVERY_FEATURE.filter((feature) => {
    const [name = "", part] = feature.split(".");
    const said = features[name];
    return part === undefined ? said === true : Array.isArray(said) && said.includes(part);
  });
}

/** `before`: what is ticked neither then nor now stays as it was, a no or nothing; a no to what was a yes is told. */
export function featuresOf(ticked: readonly string[], before: Declaration): Readonly<Record<string, unknown>> {
  const features: Record<string, unknown> = { ...before.features };
  for (const feature of EVERY_FEATURE) {
    const [name = "", part] = feature.split(".");
    const was = before.features?.[name];
    if (part === undefined) {
      if (ticked.includes(feature)) features[name] = true;
      else if (was === true) features[name] = false;
      continue;
    }
    const parts = ticked.filter((each) => each.startsWith(`${name}.`)).map((each) => each.slice(name.length + 1));
    if (parts.length > 0 || Array.isArray(was)) features[name] = parts;
  }
  return features;
}
