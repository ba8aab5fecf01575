// Lists the targets of the resolved route in order, those of the response profile if it has any, each with its verdict and its availability [routing.all-unavailable]. Pure.
import type { Capability, Profile } from "../contract/features.ts";
import type { Warning } from "../contract/transcription/transcription-envelope.ts";
import type { ModelRetirement } from "../providers/life-status.ts";
import { judgeDataPolicy, type RequiredDataPolicy } from "./data-policy.ts";
import type { Verdict } from "./judge-target.ts";
import type { RetiredTarget } from "./retired-target.ts";
import { isCapable, type Route, type Target } from "./types.ts";

/** The common part of every verdict. Empty: the target is eligible. */
export interface Missing {
  readonly missing: readonly string[];
}

export interface Candidate<V extends Missing = Verdict> {
  readonly target: Target;
  readonly verdict: V;
  readonly rest: Unavailability | null;
  /** Present if the provider has ended the model. `missing` contains `RETIRED`, too. */
  readonly retired?: ModelRetirement;
  /** The target's settings, overridden by those of the applied profile, and by those that its data policy depends on. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What the target has proven, to be judged again when it is called. Absent: nothing is required. */
  readonly dataPolicy?: RequiredDataPolicy;
}

/** Why a target must not be called at this moment. */
export type Unavailability =
  | { readonly kind: "after_failures" }
  /** Paused manually, which is not a failure of the provider. */
  | { readonly kind: "paused"; readonly until: Date; readonly secondsLeft: number };

/** The workspace's plan pays for priced models only, and this one has no price. */
export interface UnpricedTarget {
  readonly kind: "unpriced";
}

/** Reported as a lack and not as unavailability, because waiting does not help. */
export const UNPRICED = "price";
/** The lack of a target whose model its provider has ended [routing.model-retired]. */
export const RETIRED = "model_retired";

/** Null: available. */
export type UnavailabilityOf = (
  target: Target,
  capability: Capability,
) => Unavailability | UnpricedTarget | RetiredTarget | null;
export type Judge<V extends Missing> = (target: Target, route: Route, settings: Readonly<Record<string, unknown>>) => V;

export interface CandidateSelection<V extends Missing> {
  readonly candidates: readonly Candidate<V>[];
  readonly warnings: readonly Warning[];
}

/** Judges every capable target of the route that serves the profile. The caller filters by verdict and availability. */
export function pickCandidates<V extends Missing>(
  route: Route,
  capability: Capability,
  profile: Profile | null,
  judge: Judge<V>,
  unavailabilityOf: UnavailabilityOf,
): CandidateSelection<V> {
  const capable = route.targets.filter((target) => isCapable(target, capability));
  const serving = profile === null ? capable : capable.filter((target) => servesProfile(target, profile));
  const profileApplied = profile !== null && serving.length > 0;
  const selected = profile === null || profileApplied ? serving : capable;
  return {
    candidates: selected.map((target) => {
      const profileOverrides = profileApplied ? target.profileSettings[profile] : undefined;
      const ownSettings =
        profileOverrides === undefined ? target.settings : { ...target.settings, ...profileOverrides };
      const facts = target.dataPolicy?.[capability] ?? [];
      const { missing, settings } = judgeDataPolicy(route.dataPolicy ?? null, facts, ownSettings);
      const verdict = withLacks(judge(target, route, settings), missing);
      const candidate = { target, settings, ...(route.dataPolicy == null ? {} : { dataPolicy: route.dataPolicy }) };
      const rest = unavailabilityOf(target, capability);
      if (rest?.kind === "unpriced") return { ...candidate, verdict: withLacks(verdict, [UNPRICED]), rest: null };
      if (rest?.kind !== "retired") return { ...candidate, verdict, rest };
      const { date, source } = rest;
      return { ...candidate, verdict: withLacks(verdict, [RETIRED]), rest: null, retired: { date, source } };
    }),
    warnings: profile === null || profileApplied ? [] : [profileNotApplied(profile)],
  };
}

function withLacks<V extends Missing>(verdict: V, lacks: readonly string[]): V {
  return lacks.length === 0 ? verdict : { ...verdict, missing: [...verdict.missing, ...lacks] };
}

/** The target could serve the request if the plan paid for it (`UNPRICED`), or if its model had not ended (`RETIRED`). */
export function lacksOnly({ verdict }: Candidate<Missing>, lack: typeof UNPRICED | typeof RETIRED): boolean {
  return verdict.missing.length === 1 && verdict.missing[0] === lack;
}

function servesProfile(target: Target, profile: Profile): boolean {
  return target.profiles.length === 0 || target.profiles.includes(profile);
}

function profileNotApplied(profile: Profile): Warning {
  return {
    code: "PROFILE_NOT_APPLIED",
    message: `No target of the route serves the profile ${profile}; the route's default targets were used.`,
    param: "response_profile",
    details: { profile },
  };
}
