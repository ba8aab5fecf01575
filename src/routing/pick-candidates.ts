// The targets of the resolved route in order, each with its verdict and whether it is unavailable [routing.all-unavailable]. Pure.
import type { Capability, Profile } from "../contract/features.ts";
import type { Warning } from "../contract/transcription.ts";
import type { Verdict } from "./judge-target.ts";
import { isCapable, type Route, type Target } from "./types.ts";

/** What every verdict says, whatever it was about. Empty: the target is eligible. */
export interface Missing {
  readonly missing: readonly string[];
}

export interface Candidate<V extends Missing = Verdict> {
  readonly target: Target;
  readonly verdict: V;
  readonly rest: Unavailability | null;
  /** Target settings with those of the profile in force on top. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Why a target is not to be called, as of the moment it was asked for. */
export type Unavailability =
  | { readonly kind: "after_failures" }
  /** By hand, which says nothing of the provider. */
  | { readonly kind: "paused"; readonly until: Date; readonly secondsLeft: number };

/** The workspace's plan pays for priced models only, and this one has no price. */
export interface Unpriced {
  readonly kind: "unpriced";
}

/** As a lack of the target: unlike what is unavailable it comes back by no waiting. */
export const UNPRICED = "price";

/** null: nothing speaks against it. */
export type UnavailabilityOf = (target: Target, capability: Capability) => Unavailability | Unpriced | null;
export type Judge<V extends Missing> = (target: Target, route: Route, settings: Readonly<Record<string, unknown>>) => V;

export interface Picked<V extends Missing> {
  readonly candidates: readonly Candidate<V>[];
  readonly warnings: readonly Warning[];
}

/** Judges every capable target of the route that serves the profile; the caller keeps those without a lack. */
export function pickCandidates<V extends Missing>(
  route: Route,
  capability: Capability,
  profile: Profile | null,
  judge: Judge<V>,
  restOf: UnavailabilityOf,
): Picked<V> {
  const able = route.targets.filter((target) => isCapable(target, capability));
  const serving = profile === null ? able : able.filter((target) => servesProfile(target, profile));
  const profileApplied = profile !== null && serving.length > 0;
  const chosen = profile === null || profileApplied ? serving : able;
  return {
    candidates: chosen.map((target) => {
      const ofProfile = profileApplied ? target.profileSettings[profile] : undefined;
      const settings = ofProfile === undefined ? target.settings : { ...target.settings, ...ofProfile };
      const verdict = judge(target, route, settings);
      const rest = restOf(target, capability);
      return rest?.kind === "unpriced"
        ? { target, verdict: withoutPrice(verdict), rest: null, settings }
        : { target, verdict, rest, settings };
    }),
    warnings: profile === null || profileApplied ? [] : [profileNotApplied(profile)],
  };
}

function withoutPrice<V extends Missing>(verdict: V): V {
  return { ...verdict, missing: [...verdict.missing, UNPRICED] };
}

/** It could serve the request if the plan paid for it. */
export function lacksPriceAlone({ verdict }: Candidate<Missing>): boolean {
  return verdict.missing.length === 1 && verdict.missing[0] === UNPRICED;
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
