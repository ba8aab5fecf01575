// The whole routing decision as one pure function, which requests, dry runs and tests call. Order: purpose, no model 503, profile 400, no capable target 422,
// none healthy 503 [routing.order].
import type { Capability, Profile } from "../contract/features.ts";
import type { DataPolicyRequirement } from "../contract/settings/data-policy.ts";
import type { TranslationFields } from "../contract/transcription/transcription-fields.ts";
import type { PurposeFields, Warning } from "../contract/transcription/transcription-envelope.ts";
import { combineDataPolicies, type RequiredDataPolicy, requiredDataPolicy } from "./data-policy.ts";
import { type AudioFacts, judgeTarget, type Verdict } from "./judge-target.ts";
import {
  type Candidate,
  type Judge,
  lacksOnly,
  type Missing,
  pickCandidates,
  RETIRED,
  type Unavailability,
  type UnavailabilityOf,
  UNPRICED,
} from "./pick-candidates.ts";
import { type PurposeRequest, purposesOf, resolvePurpose, type UnusablePurpose } from "./resolve-purpose.ts";
import { type Requirements, requiredFeatures } from "./required-features.ts";
import { withDefaults } from "./purpose-defaults.ts";
import { contextRouteOf } from "./audio-input-override.ts";
import { isCapable, type PurposeDefaults, type Route, type RoutingContext } from "./types.ts";

export interface AudioQuestion {
  readonly task: Requirements["task"];
  readonly fields: TranslationFields;
  readonly purpose: PurposeRequest;
  /** Null: the audio is not known yet. What depends on it is judged again later. */
  readonly audio: AudioFacts | null;
}

/** What differs between audio and chat: the requirements, and the verdict on one target. */
export interface Work<Wanted, V extends Missing> {
  readonly capability: Capability;
  readonly purpose: PurposeRequest;
  readonly profile: Profile | null;
  /** The request's own requirement, which only adds to those of app, purpose and routes. */
  readonly dataPolicy: DataPolicyRequirement | null;
  /** Receives the defaults of the applied purpose. */
  readonly want: (defaults: PurposeDefaults) => { readonly wanted: Wanted; readonly judge: Judge<V> };
}

export type RouteRefusal =
  | ({ readonly kind: "purpose_unavailable" } & UnusablePurpose)
  | { readonly kind: "profile_not_allowed" }
  | { readonly kind: "no_model"; readonly capability: Capability }
  | { readonly kind: "unsupported"; readonly missing: readonly string[] }
  /** The targets that could serve it have no price, and the workspace's plan pays for priced models only. */
  | { readonly kind: "credits_required" }
  /** The providers have ended the models of the targets that could serve it. */
  | { readonly kind: "model_retired" }
  /** `rests`: why each target that could have served it is unavailable. */
  | { readonly kind: "unhealthy"; readonly capability: Capability; readonly rests: readonly Unavailability[] };

interface Judged<V extends Missing> {
  /** Null: the purpose was refused. */
  readonly route: Route | null;
  readonly purpose: PurposeFields;
  readonly warnings: readonly Warning[];
  /** Every capable target that was considered, with what it lacks if it is not eligible. */
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

/** Decides the route of an audio request. */
export function decideRoute(
  context: RoutingContext,
  question: AudioQuestion,
  unavailabilityOf: UnavailabilityOf,
): RouteDecision {
  return decideSpeech(context, question, (fields) => requiredFeatures(fields, question.task), unavailabilityOf);
}

/** Decides the route with requirements other than those of the request, such as those of the transcript of a translation. */
export function decideSpeech(
  context: RoutingContext,
  { fields, purpose, audio }: AudioQuestion,
  want: (fields: AudioQuestion["fields"]) => Requirements,
  unavailabilityOf: UnavailabilityOf,
): RouteDecision {
  return decide(
    context,
    {
      capability: "audio_input",
      purpose,
      profile: fields.response_profile ?? null,
      dataPolicy: fields.data_policy ?? null,
      want: (defaults) => {
        const wanted = want(withDefaults(fields, defaults));
        return { wanted, judge: audioJudge(wanted, audio) };
      },
    },
    unavailabilityOf,
  );
}

/** Judges targets of a route that was decided earlier. */
export function audioJudge(wanted: Requirements, audio: AudioFacts | null): Judge<Verdict> {
  return ({ speech }, route) => judgeTarget(requireModel(speech), wanted, audio, route);
}

export function decide<Wanted, V extends Missing>(
  context: RoutingContext,
  work: Work<Wanted, V>,
  unavailabilityOf: UnavailabilityOf,
): RouteDecision<Wanted, V> {
  const { capability, profile } = work;
  const purpose = resolvePurpose(context, capability, work.purpose);
  if (!purpose.ok) {
    const { ok: _, fields, ...unusable } = purpose;
    return refuse<Wanted, V>(
      { route: null, purpose: fields, warnings: [], considered: [] },
      { kind: "purpose_unavailable", ...unusable },
    );
  }
  const dataPolicy = applicableDataPolicy(context, work, purpose.route);
  // With everything that applies to this request, so that each later choice among the route's targets judges by it.
  const route = dataPolicy === null ? purpose.route : { ...purpose.route, dataPolicy };
  const resolved = { route, purpose: purpose.fields, warnings: purpose.warnings, considered: [] };
  if (!route.targets.some((target) => isCapable(target, capability)))
    return refuse<Wanted, V>(resolved, { kind: "no_model", capability });
  if (profile !== null && !route.profileOverrideAllowed)
    return refuse<Wanted, V>(resolved, { kind: "profile_not_allowed" });

  const { wanted, judge } = work.want(purpose.purpose?.defaults ?? {});
  const picked = pickCandidates(route, capability, profile, judge, unavailabilityOf);
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

/** Everything that the request must meet. A purpose that is named and cannot be applied still requires what it requires [data-policy.tighten-only]. */
function applicableDataPolicy(
  context: RoutingContext,
  { capability, purpose, dataPolicy }: Pick<Work<unknown, Missing>, "capability" | "purpose" | "dataPolicy">,
  route: Route,
): RequiredDataPolicy | null {
  const contextRoute = contextRouteOf(context, capability);
  const label = purpose.body ?? purpose.header ?? context.defaultPurpose;
  const named = label === null ? undefined : purposesOf(context, contextRoute).get(label);
  return combineDataPolicies([
    context.dataPolicy,
    contextRoute.dataPolicy,
    named?.dataPolicy,
    named === undefined ? null : context.routes.get(named.route)?.dataPolicy,
    route.dataPolicy,
    requiredDataPolicy(dataPolicy),
  ]);
}

type LackingRefusal = Extract<RouteRefusal, { readonly kind: "unsupported" | "credits_required" | "model_retired" }>;

/** The refusal when no target is eligible: a feature is missing, or only what the request cannot change. */
export function lackingRefusal(candidates: readonly Candidate<Missing>[]): LackingRefusal {
  return featureIndependentRefusal(candidates) ?? { kind: "unsupported", missing: commonLacks(candidates) };
}

/** If a target has every feature, and lacks only the price that the workspace's plan needs, or a model that still exists [routing.retired-refusal]. */
export function featureIndependentRefusal(
  candidates: readonly Candidate<Missing>[],
): Exclude<LackingRefusal, { readonly kind: "unsupported" }> | null {
  if (candidates.some((each) => lacksOnly(each, UNPRICED))) return { kind: "credits_required" };
  return candidates.some((each) => lacksOnly(each, RETIRED)) ? { kind: "model_retired" } : null;
}

/** What the target lacks of the request itself. */
export function missingFeatures({ verdict }: Candidate<Missing>): readonly string[] {
  return verdict.missing.filter((lack) => lack !== UNPRICED && lack !== RETIRED);
}

export function restsOf(candidates: readonly Candidate<Missing>[]): readonly Unavailability[] {
  return candidates.flatMap(({ rest }) => rest ?? []);
}

function refuse<Wanted, V extends Missing>(judged: Judged<V>, refusal: RouteRefusal): RouteDecision<Wanted, V> {
  return { ...judged, ok: false, refusal };
}

/** What all targets lack; if they lack nothing in common, everything that any of them lacks. */
function commonLacks(candidates: readonly Candidate<Missing>[]): readonly string[] {
  const lacks = candidates.map(missingFeatures);
  const all = [...new Set(lacks.flat())];
  const common = all.filter((lack) => lacks.every((each) => each.includes(lack)));
  return common.length > 0 ? common : all;
}

/** Throws if the target has no such model. Only capable targets are judged. */
export function requireModel<Model>(model: Model | null): Model {
  if (model === null) throw new Error("a target was judged for work its model does not take");
  return model;
}
