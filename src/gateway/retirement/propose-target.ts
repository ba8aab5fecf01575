// Proposes a target that keeps what a route is about to lose, with its dry run [retirement.proposal]. It changes nothing.
import { needsCredential } from "../../contract/provider-kinds.ts";
import type { RoutingDecision } from "../../contract/transcription/transcription-envelope.ts";
import { modelsOf } from "../../directory/models-of.ts";
import type { Adapters, Directory } from "../../directory/snapshot.ts";
import type { Route, Target } from "../../routing/types.ts";
import { describeAudioDecision, describeChatDecision, describeUnmeasured } from "../dry-run/describe-decision.ts";
import { decideProbe, type Judging, LANGUAGE, type ProbeDecision, provenTargets } from "./find-losses.ts";
import { judgingFor, type JudgeServices, storedTarget } from "./judge-routes.ts";
import type { Retirement } from "./list-retirements.ts";
import { CHAT, type Probe, TRANSCRIPTION } from "./probes.ts";
import { livesOf, routeOnDay } from "./route-on-day.ts";

export interface Proposal {
  /** The target that takes the place of an ending one, at its position. */
  readonly target: Target;
  /** Of everything that the route loses on the day: what it keeps, and what not. `language`: it keeps the rest in fewer languages. */
  readonly keeps: readonly string[];
  readonly lacks: readonly string[];
  /** The decision that the route would make on the day of the loss. */
  readonly dryRun: RoutingDecision;
}

export interface ProposalOutcome {
  /** Null: no model keeps what the entry names. */
  readonly proposal: Proposal | null;
  /** What no model on the connections keeps of it. */
  readonly unavailableFeatures: readonly string[];
}

export type ProposalServices = JudgeServices & { readonly adapters: Adapters };

const NONE: ProposalOutcome = { proposal: null, unavailableFeatures: [] };

interface Trial {
  readonly target: Target;
  readonly changed: Route;
  /** Of everything that the route loses on the day. */
  readonly kept: ReadonlySet<Probe>;
}

/** Of the models that keep what the entry names, the one that keeps most of what the route loses on the day; of equal ones the first candidate. */
export function proposeTarget(services: ProposalServices, retirement: Retirement): ProposalOutcome {
  const { view, date, feature, probe, lostProbes } = retirement;
  if (probe === null) return NONE;
  const judging = judgingFor(services, view);
  const own = ownProbes(retirement);
  // Of a whole capability the rest counts as much as possible, of features each one.
  const needed = WHOLE.has(feature) ? [probe.feature] : namesOf(own);
  const trials: Trial[] = [];
  let best: Trial | null = null;
  for (const target of candidatesFor(services, retirement)) {
    const trial = tryTarget(retirement, target, judging);
    trials.push(trial);
    const kept = new Set(namesOf(own.filter((each) => trial.kept.has(each))));
    if (needed.every((name) => kept.has(name)) && trial.kept.size > (best?.kept.size ?? 0)) best = trial;
    if (best?.kept.size === lostProbes.size) break;
  }
  const unavailableFeatures = unavailable(own, trials);
  if (best === null) return { proposal: null, unavailableFeatures };
  const dryRun = describe(decideProbe(best.changed, probe, judging.lacksOn(date), judging));
  return { proposal: { target: best.target, ...balance([...lostProbes], best.kept), dryRun }, unavailableFeatures };
}

const WHOLE: ReadonlySet<string> = new Set([CHAT, TRANSCRIPTION]);

/** A feature that is kept in some languages only is kept, and `language` is lacking. */
function balance(lost: readonly Probe[], kept: ReadonlySet<Probe>): Pick<Proposal, "keeps" | "lacks"> {
  const keeps = namesOf(lost.filter((probe) => kept.has(probe)));
  const missing = namesOf(lost.filter((probe) => !kept.has(probe)));
  const isPartial = missing.some((name) => keeps.includes(name));
  return { keeps, lacks: [...missing.filter((name) => !keeps.includes(name)), ...(isPartial ? [LANGUAGE] : [])] };
}

function tryTarget({ route, date, lostProbes }: Retirement, target: Target, judging: Judging): Trial {
  const targets = route.targets.map((each) => (each.position === target.position ? target : each));
  const changed = { ...route, targets };
  // By any evidence: what a model is said not to do any more is not kept.
  const onDay = routeOnDay(changed, date, "any", judging.modelOn);
  const kept = new Set([...lostProbes].filter((each) => provenTargets(onDay, each, date, judging).length > 0));
  return { target, changed, kept };
}

/** The lost requests that the entry is about. */
function ownProbes({ lostProbes, probe, feature, features, languages }: Retirement): readonly Probe[] {
  const names = new Set([feature, ...features, ...(probe === null ? [] : [probe.feature])]);
  return [...lostProbes].filter(
    (each) =>
      names.has(each.feature) &&
      (languages === null || each.languages.some((language) => languages.includes(language))),
  );
}

/**
 * The successors that the provider names, then models of the same connection, then of the route's other connections, then of all others. Models with a known
 * end, without a credential, or simulated are no candidates.
 */
function candidatesFor({ directory, adapters }: ProposalServices, retirement: Retirement): readonly Target[] {
  const { route, targets, view } = retirement;
  const [replaced] = targets;
  if (replaced === undefined) return [];
  const successors = targets.flatMap((target) =>
    livesOf(target).flatMap(({ replacedBy = [] }) =>
      replacedBy.map(({ model }) => ({ connection: target.connection, model })),
    ),
  );
  const ranks = [...new Set([...targets, ...route.targets].map(({ connection }) => connection))];
  const rankOf = (connection: string): number =>
    ranks.includes(connection) ? ranks.indexOf(connection) : ranks.length;
  const available = directory()
    .accountsOf(view.scope)
    .filter(
      ({ account, ownership }) =>
        ownership !== "simulated" && (account.credential !== null || !needsCredential(account.kind)),
    )
    .toSorted((left, right) => rankOf(left.account.connection) - rankOf(right.account.connection))
    .flatMap(({ account }) =>
      modelsOf(account, adapters).map(({ name }) => ({ connection: account.connection, model: name })),
    );
  const isAvailable = new Set(available.map(nameOf));
  const named = new Map(
    [...successors.filter((each) => isAvailable.has(nameOf(each))), ...available].map((each) => [nameOf(each), each]),
  );
  for (const target of route.targets) named.delete(nameOf(target));
  return [...named.values()].flatMap(({ connection, model }) => {
    const target = targetInPlaceOf(directory(), retirement, replaced, connection, model);
    return target === null || livesOf(target).some(({ endsOn, redirect }) => (endsOn ?? redirect) !== undefined)
      ? []
      : [target];
  });
}

function nameOf({ connection, model }: Pick<Target, "connection" | "model">): string {
  return `${connection}/${model}`;
}

/** Settings are those of the replaced target on the same connection, because other providers have others. */
function targetInPlaceOf(
  directory: Directory,
  { view }: Retirement,
  replaced: Target,
  connection: string,
  model: string,
): Target | null {
  const target = directory.targetOf(view.scope, storedTarget(connection, model), replaced.position);
  if (target === null) return null;
  const { profiles, settings, profileSettings } = replaced;
  return { ...target, profiles, ...(connection === replaced.connection ? { settings, profileSettings } : {}) };
}

function namesOf(probes: readonly Probe[]): readonly string[] {
  return [...new Set(probes.map(({ feature }) => feature))];
}

/** Not in any language. */
function unavailable(probes: readonly Probe[], trials: readonly Trial[]): readonly string[] {
  const available = new Set(namesOf(probes.filter((probe) => trials.some(({ kept }) => kept.has(probe)))));
  return namesOf(probes).filter((name) => !available.has(name));
}

const SEES_NAMES = { scopes: ["routing:read"] } as const;

function describe(decided: ProbeDecision): RoutingDecision {
  if (decided.kind === "chat") return describeChatDecision(SEES_NAMES, decided.decision, null);
  const { decision, byChat } = decided;
  // Without a recording its length and its cost are unknown.
  if (byChat === null) return describeUnmeasured(SEES_NAMES, decision);
  return { ...describeAudioDecision(SEES_NAMES, { decision, byChat }, null, 0), audio_seconds: null };
}
