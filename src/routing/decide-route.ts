// The whole routing decision as one pure function: what the gateway runs, `dry_run` prints and tests tabulate. Order of judgement: purpose,
// no model 503, profile 400, no capable target 422, none healthy 503 [routing.order].
import type { Capability, Profile } from "../contract/features.ts";
import type { PurposeFields, TranslationFields, Warning } from "../contract/transcription.ts";
import { type AudioFacts, judgeTarget, type Verdict } from "./judge-target.ts";
import {
  type Candidate,
  type Judge,
  lacksPriceAlone,
  type Missing,
  pickCandidates,
  type Unavailability,
  type UnavailabilityOf,
  UNPRICED,
} from "./pick-candidates.ts";
import { type PurposeRefusalReason, type PurposeRequest, resolvePurpose } from "./resolve-purpose.ts";
import { type Requirements, requiredFeatures, withDefaults } from "./required-features.ts";
import { isCapable, type PurposeDefaults, type Route, type RoutingContext } from "./types.ts";

export interface AudioQuestion {
  readonly task: Requirements["task"];
  readonly fields: TranslationFields;
  readonly purpose: PurposeRequest;
  /** Null while nothing is known of it: what depends on it is judged again later. */
  readonly audio: AudioFacts | null;
}

/** What differs between one kind of work and another: its wishes, and its verdict on one target. */
export interface Work<Wanted, V extends Missing> {
  readonly capability: Capability;
  readonly purpose: PurposeRequest;
  readonly profile: Profile | null;
  /** Given the defaults of the purpose in force. */
  readonly want: (defaults: PurposeDefaults) => { readonly wanted: Wanted; readonly judge: Judge<V> };
}

export type RouteRefusal =
  | { readonly kind: "purpose_unavailable"; readonly reason: PurposeRefusalReason }
  | { readonly kind: "profile_not_allowed" }
  | { readonly kind: "no_model"; readonly capability: Capability }
  | { readonly kind: "unsupported"; readonly missing: readonly string[] }
  /** What could serve it has no price, and the workspace's plan pays for priced models only. */
  | { readonly kind: "credits_required" }
  /** `rests`: of each target that could have served it. */
  | { readonly kind: "unhealthy"; readonly capability: Capability; readonly rests: readonly Unavailability[] };

interface Judged<V extends Missing> {
  /** Null where the purpose was refused. */
  readonly route: Route | null;
  readonly purpose: PurposeFields;
  readonly warnings: readonly Warning[];
  /** Every able target that was considered, the left ones with their lacks. */
  readonly considered: readonly Candidate<V>[];
}

export type RouteDecision<Wanted = Requirements, V extends Missing = Verdict> =
  | (Judged<V> & {
      readonly ok: true;
      readonly route: Route;
      readonly wanted: Wanted;
      readonly candidates: readonly Candidate<V>[];
    })
  | (Judged<V> & { readonly ok: false; readonly refusal: RouteRefusal });

/** For audio. */
export function decideRoute(context: RoutingContext, question: AudioQuestion, restOf: UnavailabilityOf): RouteDecision {
  return decideSpeech(context, question, (fields) => requiredFeatures(fields, question.task), restOf);
}

/** What is wanted of a target, when it is not simply what was asked. */
export function decideSpeech(
  context: RoutingContext,
  { fields, purpose, audio }: AudioQuestion,
  want: (fields: AudioQuestion["fields"]) => Requirements,
  restOf: UnavailabilityOf,
): RouteDecision {
  return decide(
    context,
    {
      capability: "audio_input",
      purpose,
      profile: fields.response_profile ?? null,
      want: (defaults) => {
        const wanted = want(withDefaults(fields, defaults));
        return { wanted, judge: audioJudge(wanted, audio) };
      },
    },
    restOf,
  );
}

/** For a route that was decided on before, when its targets are to be judged again. */
export function audioJudge(wanted: Requirements, audio: AudioFacts | null): Judge<Verdict> {
  return ({ speech }, route) => judgeTarget(given(speech), wanted, audio, route);
}

export function decide<Wanted, V extends Missing>(
  context: RoutingContext,
  work: Work<Wanted, V>,
  restOf: UnavailabilityOf,
): RouteDecision<Wanted, V> {
  const { capability, profile } = work;
  const purpose = resolvePurpose(context, capability, work.purpose);
  if (!purpose.ok) {
    return refuse<Wanted, V>(
      { route: null, purpose: purpose.fields, warnings: [], considered: [] },
      { kind: "purpose_unavailable", reason: purpose.reason },
    );
  }
  const { route } = purpose;
  const resolved = { route, purpose: purpose.fields, warnings: purpose.warnings, considered: [] };
  if (!route.targets.some((target) => isCapable(target, capability)))
    return refuse<Wanted, V>(resolved, { kind: "no_model", capability });
  if (profile !== null && !route.profileOverrideAllowed)
    return refuse<Wanted, V>(resolved, { kind: "profile_not_allowed" });

  const { wanted, judge } = work.want(purpose.purpose?.defaults ?? {});
  const picked = pickCandidates(route, capability, profile, judge, restOf);
  const judged = {
    route,
    purpose: purpose.fields,
    warnings: [...purpose.warnings, ...picked.warnings],
    considered: picked.candidates,
  };
  const capable = picked.candidates.filter((candidate) => candidate.verdict.missing.length === 0);
  if (capable.length === 0) return refuse(judged, lackingRefusal(picked.candidates));
  const candidates = capable.filter(({ rest }) => rest === null);
  if (candidates.length === 0) return refuse(judged, { kind: "unhealthy", capability, rests: restsOf(capable) });
  return { ...judged, ok: true, route, wanted, candidates };
}

/** Where no target is eligible: its features are at fault, or nothing but the plan. */
export function lackingRefusal(
  candidates: readonly Candidate<Missing>[],
): Extract<RouteRefusal, { readonly kind: "unsupported" | "credits_required" }> {
  if (candidates.some(lacksPriceAlone)) return { kind: "credits_required" };
  return { kind: "unsupported", missing: commonLacks(candidates).filter((lack) => lack !== UNPRICED) };
}

export function restsOf(candidates: readonly Candidate<Missing>[]): readonly Unavailability[] {
  return candidates.flatMap(({ rest }) => rest ?? []);
}

function refuse<Wanted, V extends Missing>(judged: Judged<V>, refusal: RouteRefusal): RouteDecision<Wanted, V> {
  return { ...judged, ok: false, refusal };
}

/** What every target lacks; where each lacks something else, everything that any of them lacks. */
function commonLacks(candidates: readonly Candidate<Missing>[]): readonly string[] {
  const all = [...new Set(candidates.flatMap((candidate) => candidate.verdict.missing))];
  const common = all.filter((lack) => candidates.every((candidate) => candidate.verdict.missing.includes(lack)));
  return common.length > 0 ? common : all;
}

/** Only able targets are judged. */
export function given<Model>(model: Model | null): Model {
  if (model === null) throw new Error("a target was judged for work its model does not take");
  return model;
}
