// What a model on a connection can do: the adapter's catalogue entry with the operator's declaration on top (contract 10:
// "a declaration beats the catalogue"). Pure.
import type { Feature, Preference } from "../contract/features.ts";
import type { FeatureSupport, SpeechLimits, SpeechModel, SpeechProvider } from "../providers/provider.ts";
import type { StoredModel } from "./stored.ts";

const SHOWN: FeatureSupport = { support: "native", grade: "shown" };
const SENT: FeatureSupport = { support: "native", grade: "sent" };
const NOTHING: SpeechModel = { features: {}, preferences: [], limits: {}, languages: "any", defaultLanguage: "auto" };

/** null: the model takes no audio there. */
export function speechModel(provider: SpeechProvider | undefined, name: string, declared: StoredModel | undefined): SpeechModel | null {
  if (provider === undefined) return null;
  const known = provider.models[name];
  if (declared === undefined) return known ?? null;
  if (!declared.capabilities.includes("audio_input")) return null;
  const base = known ?? provider.unknownModel ?? NOTHING;
  const features = declaredFeatures(declared);
  const preferences = declaredPreferences(declared);
  return {
    ...base,
    // Declaring any feature declares them all: what is left out is refused, never assumed.
    features: Object.keys(features).length > 0 ? features : base.features,
    preferences: preferences.length > 0 ? preferences : base.preferences,
    limits: { ...base.limits, ...declaredLimits(declared) },
    languages: declared.languages ?? base.languages,
    defaultLanguage: declared.defaultLanguage ?? base.defaultLanguage,
  };
}

function declaredFeatures({ features }: StoredModel): { readonly [F in Feature]?: FeatureSupport } {
  const declared: { [F in Feature]?: FeatureSupport } = {};
  for (const granularity of features.timestamps) declared[`timestamps.${granularity}`] = SHOWN;
  for (const group of features.redaction) declared[`redaction.${group}`] = SENT;
  if (features.diarization) declared.diarization = SHOWN;
  if (features.multichannel) declared.multichannel = SHOWN;
  if (features.keyterms) declared.keyterms = SENT;
  if (features.profanityFilter) declared.profanity_filter = SENT;
  if (features.translation) declared.translation = SENT;
  return declared;
}

function declaredPreferences({ features }: StoredModel): readonly Preference[] {
  const preferences: Preference[] = [];
  if (features.detectLanguage) preferences.push("detect_language");
  if (features.speakerCountHint) preferences.push("speaker_count_hint");
  if (features.smartFormatting) preferences.push("smart_formatting");
  if (features.prompt) preferences.push("prompt");
  if (features.language) preferences.push("language");
  return preferences;
}

function declaredLimits({ limits }: StoredModel): SpeechLimits {
  const { maxBytes, maxSeconds, maxChannels, formats, maxKeyterms, maxKeytermCharacters } = limits;
  const keyterms = {
    ...(maxKeyterms === null ? {} : { maxTerms: maxKeyterms }),
    ...(maxKeytermCharacters === null ? {} : { maxTermCharacters: maxKeytermCharacters }),
  };
  return {
    ...(maxBytes === null ? {} : { maxBytes }),
    ...(maxSeconds === null ? {} : { maxSeconds }),
    ...(maxChannels === null ? {} : { maxChannels }),
    ...(formats === null ? {} : { formats }),
    ...(Object.keys(keyterms).length === 0 ? {} : { keyterms }),
  };
}
