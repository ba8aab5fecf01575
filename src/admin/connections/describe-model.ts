// Describes the capabilities of a model on a provider account in the API's terms [providers.model-list]. Pure.
import { CAPABILITIES, FEATURES } from "../../contract/features.ts";
import type { AssignableModel } from "../../contract/admin/workspace-models.ts";
import type { ModelLifeView, NotOfferedView } from "../../contract/model-life.ts";
import type { AccountModel } from "../../directory/models-of.ts";
import type { targetDataPolicy } from "../../directory/target-data-policy.ts";
import { describeLife } from "./describe-life.ts";

export interface ModelAbilities {
  readonly model: string;
  readonly capabilities: (typeof CAPABILITIES)[number][];
  readonly features: string[];
  readonly weak_features: string[];
  readonly life: ModelLifeView | null;
  readonly not_offered: NotOfferedView;
}

/** `nowMs`: of the clock by which models retire. */
export function describeAbilities({ name, speech, chat }: AccountModel, nowMs: number): ModelAbilities {
  const supportOf = (feature: (typeof FEATURES)[number]) => speech?.features[feature]?.support;
  const audio = FEATURES.filter((feature) => supportOf(feature) !== undefined);
  return {
    model: name,
    capabilities: [
      ...(speech === null ? [] : (["audio_input"] as const)),
      ...(chat === null ? [] : (["chat"] as const)),
    ],
    features: [...audio.filter((feature) => supportOf(feature) !== "weak"), ...(chat?.features ?? [])],
    weak_features: audio.filter((feature) => supportOf(feature) === "weak"),
    life: describeLife({ speech, chat }, nowMs),
    not_offered: speech?.notOffered === undefined ? null : { ...speech.notOffered },
  };
}

export function describeDataPolicy(facts: ReturnType<typeof targetDataPolicy>): AssignableModel["data_policy"] {
  return CAPABILITIES.flatMap((capability) =>
    (facts[capability] ?? []).map(({ aspect, value, basis, source, verifiedOn, forces = {} }) => ({
      capability,
      aspect,
      value: typeof value === "object" ? [...value] : value,
      basis,
      source,
      verified_on: verifiedOn,
      sent: Object.entries(forces).map(([name, forced]) => `${name}=${String(forced)}`),
    })),
  );
}
