// Finds what a route can no longer do from which day on, by asking the router itself on a moved clock [retirement.by-router]. Pure.
import type { Capability } from "../../contract/features.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import type { ModelEnd } from "../../providers/model-life.ts";
import { decideChatRoute, type ChatDecision, type ChatPlanner } from "../../routing/decide-chat-route.ts";
import { type AudioDecision, decideAudio } from "../../routing/decide-translation.ts";
import type { UnavailabilityOf } from "../../routing/pick-candidates.ts";
import type { Route, RoutingContext, Target } from "../../routing/types.ts";
import { expectedTranslation } from "../translation/translation-prompt.ts";
import { audioProbes, CHAT, chatProbes, type Probe, TRANSCRIPTION } from "./probes.ts";
import {
  answeringModels,
  changeOn,
  datesOf,
  type Evidence,
  type ModelOn,
  redirectOf,
  routeOnDay,
  type RouteOnDay,
} from "./route-on-day.ts";

/** What the router needs in addition to the route. */
export interface Judging {
  /** What routing itself holds against a target on a day: a retired model, a missing price. Not circuits and pauses. */
  readonly lacksOn: (day: string) => UnavailabilityOf;
  readonly plannerOf: (request: ChatRequest) => ChatPlanner;
  readonly modelOn: ModelOn;
}

export interface RouteLoss {
  /** `loss`: the route no longer delivers `feature`. `redirect`: a target's name is answered by another model, and nothing known is lost. */
  readonly kind: "loss" | "redirect";
  /** The first UTC day of it. */
  readonly date: string;
  readonly evidence: ModelEnd["evidence"];
  readonly capability: Capability;
  /** `transcription` and `chat`: the whole capability. `language`: transcription in some languages. */
  readonly feature: string;
  /** Everything that is lost with it: several names only if it is a whole capability. */
  readonly features: readonly string[];
  /** The languages in which it is lost, if others remain. Null: it is lost in all. */
  readonly languages: readonly string[] | null;
  /** The last targets that could deliver it. */
  readonly targets: readonly Target[];
  /** A request that is refused from then on. Null for a redirect. */
  readonly probe: Probe | null;
  /** Every request that is refused from that day on. */
  readonly lostProbes: ReadonlySet<Probe>;
}

/** The name of a redirect's entry. */
export const MODEL = "model";
export const LANGUAGE = "language";

export function findLosses(route: Route, judging: Judging, probes = probesOf(route, judging)): readonly RouteLoss[] {
  const dates = datesOf(route);
  if (dates.length === 0) return [];
  const before = routeOnDay(route, BEFORE_ALL, "vendor", judging.modelOn);
  const delivered = probes.flatMap((probe): readonly Delivered[] => {
    const targets = provenTargets(before, probe, BEFORE_ALL, judging);
    return targets.length === 0 ? [] : [{ probe, targets }];
  });
  const certain = lossesBy("vendor", route, dates, delivered, judging);
  const known = new Set(certain.map(lossKey));
  const reported = lossesBy("any", route, dates, delivered, judging).filter((loss) => !known.has(lossKey(loss)));
  const losses = [...certain, ...reported];
  return [...losses, ...redirects(route, losses)].toSorted((left, right) => (left.date < right.date ? -1 : 1));
}

/** Earlier than every date of a model's life. */
const BEFORE_ALL = "0001-01-01";

/** A request that the route serves, with the targets that can. */
interface Delivered {
  readonly probe: Probe;
  readonly targets: readonly Target[];
}

/** Probes of everything that the route's targets can do, or could do by the models that answer them later. */
export function probesOf(route: Route, { modelOn }: Pick<Judging, "modelOn">): readonly Probe[] {
  const speech = route.targets.flatMap((target) => {
    return [target.speech, answeringModels(target, modelOn)?.speech].filter((model) => model != null);
  });
  return [
    ...(speech.length === 0 ? [] : audioProbes(speech)),
    ...(route.targets.some(({ chat }) => chat !== null) ? chatProbes() : []),
  ];
}

const lossKey = ({ date, feature, languages }: RouteLoss): string => JSON.stringify([date, feature, languages]);

function lossesBy(
  evidence: Evidence,
  route: Route,
  dates: readonly string[],
  delivered: readonly Delivered[],
  judging: Judging,
): readonly RouteLoss[] {
  let before = delivered;
  return dates.flatMap((date) => {
    const changing = new Set(
      route.targets.flatMap((target) => (changeOn(target, date) === undefined ? [] : [target.position])),
    );
    const routeThen = routeOnDay(route, date, evidence, judging.modelOn);
    const lost: Delivered[] = [];
    const kept = before.flatMap((each): readonly Delivered[] => {
      // A day takes abilities away and gives none, so only requests to a target that changes are judged again.
      if (!each.targets.some(({ position }) => changing.has(position))) return [each];
      const targets = provenTargets(routeThen, each.probe, date, judging);
      if (targets.length > 0) return [{ ...each, targets }];
      lost.push({ ...each, targets: endingOf(route, each.targets, date) });
      return [];
    });
    before = kept;
    return summarise(date, evidence === "vendor" ? "vendor" : "second_hand", lost, kept);
  });
}

/** The targets that routing chooses by their names, and that can do it by the models that answer. */
export function provenTargets(
  { named, answered }: RouteOnDay,
  probe: Probe,
  day: string,
  judging: Judging,
): readonly Target[] {
  const lacks = judging.lacksOn(day);
  const chosen = eligibleTargets(decideProbe(named, probe, lacks, judging));
  if (answered === null || chosen.length === 0) return chosen;
  const able = new Set(eligibleTargets(decideProbe(answered, probe, lacks, judging)).map(({ position }) => position));
  return chosen.filter(({ position }) => able.has(position));
}

export type ProbeDecision =
  | (AudioDecision & { readonly kind: "audio" })
  | { readonly kind: "chat"; readonly decision: ChatDecision; readonly byChat: null };

/** The decision on a probe that is sent to the route itself, without a purpose. */
export function decideProbe(
  route: Route,
  probe: Probe,
  lacks: UnavailabilityOf,
  { plannerOf }: Pick<Judging, "plannerOf">,
): ProbeDecision {
  const context = contextOf(route);
  if (probe.kind === "chat") {
    const { request } = probe;
    const question = { request, purpose: NO_PURPOSE, profile: null, plan: plannerOf(request) };
    return { kind: "chat", decision: decideChatRoute(context, question, lacks), byChat: null };
  }
  const { task, fields, audio } = probe;
  const question = { task, fields, purpose: NO_PURPOSE, audio };
  const plan = plannerOf(expectedTranslation(0, fields.to_language));
  return { kind: "audio", ...decideAudio(context, question, plan, lacks) };
}

const NO_PURPOSE = { body: null, header: null, policy: null };

function contextOf(route: Route): RoutingContext {
  return {
    route,
    audioInputOverride: null,
    boundPurposes: [],
    defaultPurpose: null,
    audioPurposePolicy: "fallback",
    routes: new Map([[route.id, route]]),
  };
}

function eligibleTargets({ decision, byChat }: ProbeDecision): readonly Target[] {
  if (!decision.ok) return [];
  return [...decision.candidates, ...(byChat?.candidates ?? [])].map(({ target }) => target);
}

/** Those of the targets that change on the date, as the route has them. */
function endingOf(route: Route, targets: readonly Target[], date: string): readonly Target[] {
  const positions = new Set(targets.map(({ position }) => position));
  const had = route.targets.filter(({ position }) => positions.has(position));
  const ending = had.filter((target) => changeOn(target, date) !== undefined);
  return ending.length > 0 ? ending : had;
}

/** One entry for each feature, without those that follow from a larger loss on the same day. */
function summarise(
  date: string,
  evidence: RouteLoss["evidence"],
  lost: readonly Delivered[],
  kept: readonly Delivered[],
): readonly RouteLoss[] {
  const lostProbes = new Set(lost.map(({ probe }) => probe));
  const keptFeatures = new Set(kept.map(({ probe }) => probe.feature));
  const byFeature = Map.groupBy(lost, ({ probe }) => probe.feature);
  const isWhole = (feature: string): boolean => byFeature.has(feature) && !keptFeatures.has(feature);
  const silent = new Set((byFeature.get(TRANSCRIPTION) ?? []).flatMap(({ probe }) => probe.languages));
  const wholeOf = (capability: Capability): string => (capability === "chat" ? CHAT : TRANSCRIPTION);

  return [...byFeature].flatMap(([feature, group]): readonly RouteLoss[] => {
    const capability = capabilityOf(group);
    const whole = wholeOf(capability);
    const languages = isWhole(feature) ? null : group.flatMap(({ probe }) => probe.languages);
    const isImplied =
      feature !== whole &&
      (isWhole(whole) ? languages === null : languages?.every((language) => silent.has(language)) === true);
    const isExplained = partsOf(group).some((part) => byFeature.has(part));
    if (isImplied || isExplained) return [];
    const isLanguage = feature === TRANSCRIPTION && languages !== null;
    const features = feature === whole && languages === null ? lostWith(byFeature, capability, isWhole) : [feature];
    return [
      {
        kind: "loss",
        date,
        evidence,
        capability,
        feature: isLanguage ? LANGUAGE : feature,
        features: isLanguage ? [LANGUAGE] : features,
        languages,
        targets: uniqueTargets(group.flatMap(({ targets }) => targets)),
        probe: group[0]?.probe ?? null,
        lostProbes,
      },
    ];
  });
}

/** Everything of the capability that is lost in all languages, the capability first. */
function lostWith(
  byFeature: ReadonlyMap<string, readonly Delivered[]>,
  capability: Capability,
  isWhole: (feature: string) => boolean,
): readonly string[] {
  return [...byFeature]
    .filter(([feature, group]) => capabilityOf(group) === capability && isWhole(feature) && partsOf(group).length === 0)
    .map(([feature]) => feature);
}

function capabilityOf(group: readonly Delivered[]): Capability {
  return group[0]?.probe.kind === "chat" ? "chat" : "audio_input";
}

/** The features of a purpose's request, which is lost with each of them. */
function partsOf(group: readonly Delivered[]): readonly string[] {
  const probe = group[0]?.probe;
  return probe?.kind === "audio" && probe.parts !== undefined ? [TRANSCRIPTION, ...probe.parts] : [];
}

function uniqueTargets(targets: readonly Target[]): readonly Target[] {
  return [...new Map(targets.map((target) => [target.position, target])).values()].toSorted(
    (left, right) => left.position - right.position,
  );
}

/** Targets whose names are answered by another model without any known loss, by date. */
function redirects(route: Route, losses: readonly RouteLoss[]): readonly RouteLoss[] {
  const redirected = route.targets.flatMap((target) => {
    const redirect = redirectOf(target);
    const isLoss = losses.some(
      ({ date, targets }) => date === redirect?.date && targets.some(({ position }) => position === target.position),
    );
    return redirect === undefined || isLoss ? [] : [{ target, redirect }];
  });
  const groups = Map.groupBy(redirected, ({ redirect: { date, evidence } }) => JSON.stringify([date, evidence]));
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map(({ target: { speech }, redirect: { date, evidence } }) => ({
      kind: "redirect",
      date,
      evidence,
      capability: speech === null ? "chat" : "audio_input",
      feature: MODEL,
      features: [],
      languages: null,
      targets: group.map(({ target }) => target),
      probe: null,
      lostProbes: new Set<Probe>(),
    })),
  );
}
