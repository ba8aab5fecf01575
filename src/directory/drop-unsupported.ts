// Removes features that a declaration promises and the adapter has no parameter for [providers.declared-features], so that they are refused
// before a target is chosen, and not found out in the middle of a request. Pure.
import { type Feature, REDACTION_GROUPS } from "../contract/features.ts";
import type { LanguageInForce, SpeechModel, SpeechProvider, SpeechRequest } from "../providers/provider.ts";

export function dropUnsupported(
  provider: SpeechProvider,
  name: string,
  model: SpeechModel,
  settings: Readonly<Record<string, unknown>>,
): SpeechModel {
  const target = { model: name, speech: model, settings };
  const canPlan = (...features: readonly Feature[]): boolean =>
    (provider.stream !== undefined || !features.includes("streaming")) &&
    provider.plan(requestOf(features, model), target).ok;
  if (!canPlan()) return model;
  const features = Object.entries(model.features).filter(([feature]) => canPlan(feature as Feature));
  const others = features.map(([feature]) => feature as Feature).filter((feature) => feature !== "translation");
  // What is asked of a translation often has another wire than what is asked of a transcript.
  const notTranslated =
    others.length < features.length ? others.filter((feature) => !canPlan("translation", feature)) : [];
  return {
    ...model,
    features: Object.fromEntries(features),
    excludes: [...(model.excludes ?? []), ...notTranslated.map((feature) => ["translation", feature] as const)],
  };
}

/** The least that asks for these features, in a language under which each of them works. */
function requestOf(features: readonly Feature[], model: SpeechModel): SpeechRequest {
  const asks = (feature: Feature): boolean => features.includes(feature) && model.features[feature]?.byGateway !== true;
  const under = features.flatMap((feature) => model.features[feature]?.languages?.[0] ?? [])[0];
  const covered = model.languages === "any" ? undefined : model.languages[0];
  const language: LanguageInForce = { kind: "asked", tag: under ?? covered ?? "en" };
  return {
    task: asks("translation") ? "translate" : "transcribe",
    toLanguage: asks("translation") ? "en" : null,
    language,
    diarization: asks("diarization"),
    words: asks("timestamps.word"),
    segments: asks("timestamps.segment"),
    keyterms: asks("keyterms") ? ["term"] : [],
    redaction: REDACTION_GROUPS.filter((group) => asks(`redaction.${group}`)),
    multichannel: asks("multichannel"),
    profanityFilter: asks("profanity_filter"),
    stream: asks("streaming") || model.streamsOnly === true,
    speakerCountHint: null,
    smartFormatting: null,
    prompt: null,
  };
}
