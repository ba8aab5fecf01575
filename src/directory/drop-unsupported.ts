// Removes features that an operator declared for a model but for which the provider's adapter has no parameter [providers.declared-features], so that they
// are refused before a target is chosen and not in the middle of a request. Pure.
import { type Feature, REDACTION_GROUPS } from "../contract/features.ts";
import type { LanguageInForce, SpeechModel, SpeechProvider, SpeechRequest } from "../providers/provider.ts";

export function dropUnsupported(
  provider: SpeechProvider,
  name: string,
  model: SpeechModel,
  settings: Readonly<Record<string, unknown>>,
): SpeechModel {
  const target = { model: name, speech: model, settings };
  const isSupported = (...features: readonly Feature[]): boolean =>
    (provider.stream !== undefined || !features.includes("streaming")) &&
    provider.plan(requestOf(features, model), target).ok;
  if (!isSupported()) return model;
  const features = Object.entries(model.features).filter(([feature]) => isSupported(feature as Feature));
  const others = features.map(([feature]) => feature as Feature).filter((feature) => feature !== "translation");
  // Providers often use another endpoint for translations, with fewer parameters than for transcripts.
  const withoutTranslation =
    others.length < features.length ? others.filter((feature) => !isSupported("translation", feature)) : [];
  return {
    ...model,
    features: Object.fromEntries(features),
    excludes: [...(model.excludes ?? []), ...withoutTranslation.map((feature) => ["translation", feature] as const)],
  };
}

/** The smallest request with these features, in a language in which each of them works. */
function requestOf(features: readonly Feature[], model: SpeechModel): SpeechRequest {
  const has = (feature: Feature): boolean => features.includes(feature) && model.features[feature]?.byGateway !== true;
  const featureLanguage = features.flatMap((feature) => model.features[feature]?.languages?.[0] ?? [])[0];
  const modelLanguage = model.languages === "any" ? undefined : model.languages[0];
  const language: LanguageInForce = { kind: "asked", tag: featureLanguage ?? modelLanguage ?? "en" };
  return {
    task: has("translation") ? "translate" : "transcribe",
    toLanguage: has("translation") ? "en" : null,
    language,
    diarization: has("diarization"),
    words: has("timestamps.word"),
    segments: has("timestamps.segment"),
    keyterms: has("keyterms") ? ["term"] : [],
    redaction: REDACTION_GROUPS.filter((group) => has(`redaction.${group}`)),
    multichannel: has("multichannel"),
    profanityFilter: has("profanity_filter"),
    stream: has("streaming") || model.streamsOnly === true,
    speakerCountHint: null,
    smartFormatting: null,
    prompt: null,
  };
}
