// Models of a provider that are known and not offered, because no adapter speaks their protocol: a request for one is refused with the reason
// [providers.not-offered]. Pure.
import type { ModelLife } from "./model-life.ts";
import type { CataloguedSpeechModel } from "./provider.ts";

export interface NotOffered {
  /** The day on which it was decided. */
  readonly since: string;
  /** What is missing, as a clause. */
  readonly reason: string;
}

/** No request fits it, whatever a configuration declares. */
export function notOfferedModel(life: ModelLife, notOffered: NotOffered): CataloguedSpeechModel {
  return {
    features: {},
    preferences: [],
    limits: { formats: [] },
    languages: "any",
    defaultLanguage: "auto",
    streamsOnly: true,
    notOffered,
    life,
  };
}

/** `name is known, not offered here since 2026-11-27: the reason`. */
export function notOfferedText(name: string, { since, reason }: NotOffered): string {
  return `${name} is known, not offered here since ${since}: ${reason}`;
}
