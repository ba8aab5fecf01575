// Combines the data policies that apply to a request and judges targets by them [data-policy.tighten-only] [data-policy.fail-closed]. Pure.
import {
  DATA_POLICY_ASPECTS,
  type DataPolicyLack,
  type DataPolicyRequirement,
} from "../contract/settings/data-policy.ts";
import type { PolicyFact } from "../providers/data-policy/policy-fact.ts";

/** All requirements that apply to a request, of which each must be met. */
export interface RequiredDataPolicy {
  readonly neverTraining: boolean;
  readonly retention: readonly NonNullable<DataPolicyRequirement["retention"]>[];
  /** Null: any region. Empty: the requirements have no region in common, which no target meets. */
  readonly regions: readonly string[] | null;
}

export function requiredDataPolicy(requirement: DataPolicyRequirement | null | undefined): RequiredDataPolicy | null {
  const { training, retention, regions } = requirement ?? {};
  if (training == null && retention == null && regions == null) return null;
  return {
    neverTraining: training === "never",
    retention: retention == null ? [] : [retention],
    regions: regions ?? null,
  };
}

/** The names by which a request's record and a refusal report the required aspects. */
export function requiredAspects(requirement: DataPolicyRequirement | null | undefined): readonly DataPolicyLack[] {
  return DATA_POLICY_ASPECTS.flatMap((aspect) =>
    requirement?.[aspect] == null ? [] : [`data_policy.${aspect}` as const],
  );
}

/** Null: nothing is required. */
export function combineDataPolicies(
  policies: readonly (RequiredDataPolicy | null | undefined)[],
): RequiredDataPolicy | null {
  return policies.reduce<RequiredDataPolicy | null>(
    (combined, policy) => (policy == null ? combined : combined === null ? policy : both(combined, policy)),
    null,
  );
}

function both(one: RequiredDataPolicy, other: RequiredDataPolicy): RequiredDataPolicy {
  return {
    neverTraining: one.neverTraining || other.neverTraining,
    retention: [...new Set([...one.retention, ...other.retention])],
    regions:
      one.regions === null || other.regions === null
        ? (one.regions ?? other.regions)
        : one.regions.filter((region) => other.regions?.includes(region) === true),
  };
}

/** Equal for equal requirements, whatever the order in which they were combined. Null: nothing is required. */
export function dataPolicyKey(policy: RequiredDataPolicy | null | undefined): string | null {
  if (policy == null) return null;
  const { neverTraining, retention, regions } = policy;
  const parts = [
    ...(neverTraining ? ["training=never"] : []),
    ...retention.map((kept) => `retention=${kept}`).toSorted(),
    ...(regions === null ? [] : [`regions=${[...new Set(regions)].toSorted().join("+")}`]),
  ];
  return parts.join(",");
}

export interface DataPolicyVerdict {
  /** Empty: every requirement is proven. */
  readonly missing: readonly DataPolicyLack[];
  /** The target's settings, with those that the proof depends on. */
  readonly settings: Readonly<Record<string, unknown>>;
}

type Settings = Readonly<Record<string, unknown>>;

export function judgeDataPolicy(
  required: RequiredDataPolicy | null,
  facts: readonly PolicyFact[],
  settings: Settings,
): DataPolicyVerdict {
  if (required === null) return { missing: [], settings };
  const valid = facts.filter((fact) => holdsWith(fact, settings));
  const missing: DataPolicyLack[] = [];
  const forced: Record<string, unknown> = {};
  const prove = (lack: DataPolicyLack, isProof: (fact: PolicyFact) => boolean): void => {
    const proofs = valid.filter(isProof);
    if (proofs.length === 0 && !missing.includes(lack)) missing.push(lack);
    for (const { forces } of proofs) Object.assign(forced, forces);
  };
  if (required.neverTraining)
    prove("data_policy.training", (fact) => fact.aspect === "training" && fact.value !== "possible");
  for (const retention of required.retention)
    prove("data_policy.retention", (fact) => fact.aspect === "retention" && isKeptWithin(fact.value, retention));
  const { regions } = required;
  if (regions !== null)
    prove("data_policy.regions", (fact) => fact.aspect === "regions" && isInside(fact.value, regions));
  return { missing, settings: Object.keys(forced).length === 0 ? settings : { ...settings, ...forced } };
}

function holdsWith({ onlyWith = {} }: PolicyFact, settings: Settings): boolean {
  return Object.entries(onlyWith).every(([name, allowed]) =>
    allowed.some((value) => value === (settings[name] ?? null)),
  );
}

type Retention = Extract<PolicyFact, { readonly aspect: "retention" }>["value"];

function isKeptWithin(kept: Retention, required: RequiredDataPolicy["retention"][number]): boolean {
  if (kept === "none") return true;
  if (required === "deletable") return kept === "deletable";
  return typeof required === "number" && typeof kept === "number" && kept <= required;
}

type Regions = Extract<PolicyFact, { readonly aspect: "regions" }>["value"];

function isInside(regions: Regions, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return false;
  return regions === "any" || (regions.length > 0 && regions.every((region) => allowed.includes(region)));
}
