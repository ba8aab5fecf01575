// Determines what a speech model on a connection supports: the adapter's catalogue entry, overridden by the operator's declaration
// [providers.declaration-wins]. Pure.
import { type Feature, PREFERENCES, type Preference, REDACTION_GROUPS } from "../contract/features.ts";
import { ownProperty } from "../lib/json/own-property.ts";
import { primarySubtag } from "../lib/text/primary-subtag.ts";
import type { FeatureSupport, SpeechLimits, SpeechModel, SpeechProvider } from "../providers/provider.ts";
import { USUAL_GRADE } from "../providers/receipts.ts";
import { dropUnsupported } from "./drop-unsupported.ts";
import type { StoredModel } from "./stored-schemas.ts";

const NOTHING: SpeechModel = { features: {}, preferences: [], limits: {}, languages: "any", defaultLanguage: "auto" };

/** Null: the model does not accept audio there. */
export function speechModel(
  provider: SpeechProvider | undefined,
  name: string,
  declared: StoredModel | undefined,
  settings: Readonly<Record<string, unknown>>,
): SpeechModel | null {
  if (provider === undefined) return null;
  const dialect = declared?.dialect == null ? {} : { dialect: declared.dialect };
  const catalogueModel = ownProperty(provider.models, name) ?? ownProperty(provider.notOffered ?? {}, name);
  const configuredModel =
    catalogueModel === undefined
      ? undefined
      : (provider.configured?.(name, catalogueModel, { ...dialect, ...settings }) ?? catalogueModel);
  if (declared === undefined) return configuredModel ?? null;
  if (!declared.capabilities.includes("audio_input")) return null;
  const base = configuredModel ?? provider.unknownModel ?? NOTHING;
  const model: SpeechModel = {
    ...base,
    features: declaredFeatures(base.features, declared),
    preferences: declaredPreferences(base.preferences, declared),
    limits: { ...base.limits, ...declaredLimits(declared) },
    languages:
      declared.languages === null || declared.languages === "any"
        ? (declared.languages ?? base.languages)
        : declared.languages.map(primarySubtag),
    defaultLanguage: declared.defaultLanguage ?? base.defaultLanguage,
  };
  return dropUnsupported(provider, name, model, { ...dialect, ...settings });
}

type Features = SpeechModel["features"];

/** Merges feature by feature: `true` adds, `false` removes, unset keeps the catalogue's value. */
function declaredFeatures(known: Features, { features }: StoredModel): Features {
  const merged: { [F in Feature]?: FeatureSupport } = { ...known };
  const declare = (feature: Feature, value: boolean | null) => {
    if (value === true) merged[feature] = known[feature] ?? { support: "native", grade: USUAL_GRADE[feature] };
    if (value === false) delete merged[feature];
  };
  for (const granularity of ["word", "segment"] as const)
    declare(`timestamps.${granularity}`, features.timestamps?.includes(granularity) ?? null);
  for (const group of REDACTION_GROUPS) declare(`redaction.${group}`, features.redaction?.includes(group) ?? null);
  declare("diarization", features.diarization);
  declare("multichannel", features.multichannel);
  declare("keyterms", features.keyterms);
  declare("profanity_filter", features.profanityFilter);
  declare("streaming", features.streaming);
  declare("translation", features.translation);
  return merged;
}

function declaredPreferences(known: readonly Preference[], { features }: StoredModel): readonly Preference[] {
  const declaredSupport: Readonly<Record<Preference, boolean | null>> = {
    detect_language: features.detectLanguage,
    speaker_count_hint: features.speakerCountHint,
    smart_formatting: features.smartFormatting,
    prompt: features.prompt,
    language: features.language,
  };
  return PREFERENCES.filter((preference) => declaredSupport[preference] ?? known.includes(preference));
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
