// The targets of the resolved route in order, each with its verdict and health (spec 4.1, contract 3 and 4). Pure.
import type { Profile } from "../contract/features.ts";
import type { Warning } from "../contract/transcription.ts";
import { type AudioFacts, judgeTarget, type Verdict } from "./judge-target.ts";
import type { Requirements } from "./required-features.ts";
import type { Route, Target } from "./types.ts";

export interface Candidate {
  readonly target: Target;
  readonly verdict: Verdict;
  readonly healthy: boolean;
  /** Target settings with those of the profile in force on top. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export type TargetHealth = (target: Target) => boolean;

export interface Picked {
  readonly candidates: readonly Candidate[];
  readonly warnings: readonly Warning[];
}

/** Judges every audio target of the route that serves the profile; the caller keeps those without a lack. */
export function pickCandidates(
  route: Route,
  profile: Profile | null,
  wanted: Requirements,
  audio: AudioFacts,
  isHealthy: TargetHealth,
): Picked {
  const audioTargets = route.targets.filter((target) => target.speech !== null);
  const serving = profile === null ? audioTargets : audioTargets.filter((target) => servesProfile(target, profile));
  const profileApplied = profile !== null && serving.length > 0;
  const chosen = profile === null || profileApplied ? serving : audioTargets;
  return {
    candidates: chosen.flatMap((target) => {
      if (target.speech === null) return [];
      const verdict = judgeTarget(target.speech, wanted, audio, route.acceptWeak);
      const settings = { ...target.settings, ...(profileApplied ? target.profileSettings[profile] : {}) };
      return [{ target, verdict, healthy: isHealthy(target), settings }];
    }),
    warnings: profile === null || profileApplied ? [] : [profileNotApplied(profile)],
  };
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
