// The whole routing decision for audio, as one pure function: what the gateway runs, `dry_run` prints and tests tabulate.
// Order of judgement as contract 1, step 5: purpose, profile, no audio model 503, no capable target 422, none healthy 503.
import type { Lack } from "../contract/features.ts";
import type { PurposeFields, TranslationFields, Warning } from "../contract/transcription.ts";
import type { AudioFacts } from "./judge-target.ts";
import { type Candidate, pickCandidates, type TargetHealth } from "./pick-candidates.ts";
import { type PurposeRefusalReason, type PurposeRequest, resolveAudioPurpose } from "./resolve-purpose.ts";
import { type Requirements, requiredFeatures, withDefaults } from "./required-features.ts";
import type { Route, RoutingContext } from "./types.ts";

export interface AudioQuestion {
  readonly task: Requirements["task"];
  readonly fields: TranslationFields;
  readonly purpose: PurposeRequest;
  readonly audio: AudioFacts;
}

export type RouteRefusal =
  | { readonly kind: "purpose_unavailable"; readonly reason: PurposeRefusalReason }
  | { readonly kind: "profile_not_allowed" }
  | { readonly kind: "no_audio_model" }
  | { readonly kind: "unsupported"; readonly missing: readonly Lack[] }
  | { readonly kind: "unhealthy" };

interface Judged {
  readonly purpose: PurposeFields;
  readonly warnings: readonly Warning[];
  /** Every audio target that was considered, the left ones with their lacks. */
  readonly considered: readonly Candidate[];
}

export type RouteDecision =
  | (Judged & {
      readonly ok: true;
      readonly route: Route;
      readonly wanted: Requirements;
      readonly candidates: readonly Candidate[];
    })
  | (Judged & { readonly ok: false; readonly refusal: RouteRefusal });

export function decideRoute(context: RoutingContext, question: AudioQuestion, isHealthy: TargetHealth): RouteDecision {
  const purpose = resolveAudioPurpose(context, question.purpose);
  if (!purpose.ok) {
    return refuse(
      { purpose: purpose.fields, warnings: [], considered: [] },
      { kind: "purpose_unavailable", reason: purpose.reason },
    );
  }
  const { route } = purpose;
  const fields = withDefaults(question.fields, purpose.purpose?.defaults ?? {});
  const resolved = { purpose: purpose.fields, warnings: purpose.warnings, considered: [] };
  if (!route.targets.some((target) => target.speech !== null)) return refuse(resolved, { kind: "no_audio_model" });
  if (question.fields.response_profile !== undefined && !route.profileOverrideAllowed)
    return refuse(resolved, { kind: "profile_not_allowed" });

  const wanted = requiredFeatures(fields, question.task);
  const picked = pickCandidates(route, fields.response_profile ?? null, wanted, question.audio, isHealthy);
  const judged = {
    purpose: purpose.fields,
    warnings: [...purpose.warnings, ...picked.warnings],
    considered: picked.candidates,
  };
  const capable = picked.candidates.filter((candidate) => candidate.verdict.missing.length === 0);
  if (capable.length === 0) return refuse(judged, { kind: "unsupported", missing: commonLacks(picked.candidates) });
  const candidates = capable.filter((candidate) => candidate.healthy);
  if (candidates.length === 0) return refuse(judged, { kind: "unhealthy" });
  return { ...judged, ok: true, route, wanted, candidates };
}

function refuse(judged: Judged, refusal: RouteRefusal): RouteDecision {
  return { ...judged, ok: false, refusal };
}

/** What every target lacks; where each lacks something else, everything that any of them lacks. */
function commonLacks(candidates: readonly Candidate[]): readonly Lack[] {
  const all = [...new Set(candidates.flatMap((candidate) => candidate.verdict.missing))];
  const common = all.filter((lack) => candidates.every((candidate) => candidate.verdict.missing.includes(lack)));
  return common.length > 0 ? common : all;
}
