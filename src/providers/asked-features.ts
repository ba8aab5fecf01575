// The second check behind routing [providers.declared-features]: what a request asks of the protocol, and what of it the model lacks. Pure.
import type { Feature, Lack, Preference } from "../contract/features.ts";
import { primarySubtag } from "../lib/text/primary-subtag.ts";
import type { LanguageInForce, SpeechModel, SpeechRequest, SpeechTarget } from "./provider.ts";

export function askedFeatures(request: SpeechRequest): readonly Feature[] {
  const asked: Feature[] = [];
  if (request.diarization) asked.push("diarization");
  if (request.words) asked.push("timestamps.word");
  if (request.segments) asked.push("timestamps.segment");
  asked.push(...request.redaction.map((group) => `redaction.${group}` as const));
  if (request.keyterms.length > 0) asked.push("keyterms");
  if (request.multichannel) asked.push("multichannel");
  if (request.profanityFilter) asked.push("profanity_filter");
  if (request.stream) asked.push("streaming");
  if (request.task === "translate") asked.push("translation");
  return asked;
}

/**
 * What the model does not declare, or declares under a condition that does not hold, or that `canSend` says the wire
 * has no parameter for. A declaration in the configuration may name a feature that the protocol cannot express.
 */
export function unmetFeatures(
  request: SpeechRequest,
  model: SpeechModel,
  canSend: (feature: Feature) => boolean,
): readonly Lack[] {
  const asked = askedFeatures(request);
  const unmet = new Set<Lack>(
    asked.filter((feature) => {
      const support = model.features[feature];
      return support === undefined || !spoken(support.languages, request.language) || !canSend(feature);
    }),
  );
  for (const [first, second] of model.excludes ?? []) {
    if (asked.includes(first) && asked.includes(second)) unmet.add(second);
  }
  return [...unmet];
}

/** An unknown language meets no condition. */
function spoken(languages: readonly string[] | undefined, language: LanguageInForce): boolean {
  if (languages === undefined) return true;
  const known = language.kind === "asked" || language.kind === "default";
  return known && languages.includes(primarySubtag(language.tag));
}

export function takes({ speech }: SpeechTarget, preference: Preference): boolean {
  return speech.preferences.includes(preference);
}
