// Determines which features a transcription request needs and which of them the model lacks: the second check after routing [providers.declared-features].
// Pure.
import type { Feature, Lack, Preference } from "../contract/features.ts";
import { primarySubtag } from "../lib/text/primary-subtag.ts";
import type { LanguageInForce, SpeechModel, SpeechRequest, SpeechTarget } from "./provider.ts";

export function askedFeatures(request: SpeechRequest): readonly Feature[] {
  const features: Feature[] = [];
  if (request.diarization) features.push("diarization");
  if (request.words) features.push("timestamps.word");
  if (request.segments) features.push("timestamps.segment");
  features.push(...request.redaction.map((group) => `redaction.${group}` as const));
  if (request.keyterms.length > 0) features.push("keyterms");
  if (request.multichannel) features.push("multichannel");
  if (request.profanityFilter) features.push("profanity_filter");
  if (request.stream) features.push("streaming");
  if (request.task === "translate") features.push("translation");
  return features;
}

/**
 * Features that the model does not declare, that it declares under a condition that does not hold, or that `canSend` excludes. A declaration in the
 * configuration may name a feature that the protocol cannot express.
 */
export function unmetFeatures(
  request: SpeechRequest,
  model: SpeechModel,
  canSend: (feature: Feature) => boolean,
): readonly Lack[] {
  const requested = askedFeatures(request);
  const unmet = new Set<Lack>(
    requested.filter((feature) => {
      const support = model.features[feature];
      return support === undefined || !supportsLanguage(support.languages, request.language) || !canSend(feature);
    }),
  );
  for (const [first, second] of model.excludes ?? []) {
    if (requested.includes(first) && requested.includes(second)) unmet.add(second);
  }
  return [...unmet];
}

/** An unknown language satisfies no condition. */
function supportsLanguage(languages: readonly string[] | undefined, language: LanguageInForce): boolean {
  if (languages === undefined) return true;
  const isKnown = language.kind === "asked" || language.kind === "default";
  return isKnown && languages.includes(primarySubtag(language.tag));
}

export function supportsPreference({ speech }: SpeechTarget, preference: Preference): boolean {
  return speech.preferences.includes(preference);
}
