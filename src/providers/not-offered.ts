// Models of a provider that are known and not offered, because no adapter speaks their protocol: a request for one is refused with the reason
// [providers.not-offered]. Pure.
import type { ModelLife, NotOffered } from "./model-life.ts";
import type { CataloguedSpeechModel } from "./provider.ts";

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
