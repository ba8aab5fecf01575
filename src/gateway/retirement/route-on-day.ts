// A route with its targets as they are answered on a day: after a redirect, by another model [retirement.redirect]. Pure.
import type { ModelEnd, ModelLife, ModelRedirect } from "../../providers/model-life.ts";
import type { Route, Target } from "../../routing/types.ts";

/** `vendor`: only dates from the providers themselves, as in routing. `any`: second-hand dates count like them. */
export type Evidence = "vendor" | "any";

export type TargetModels = Pick<Target, "speech" | "chat">;

/** What a model on the target's account can do. Null: nothing is known of it. */
export type ModelOn = (target: Target, model: string) => TargetModels | null;

export interface RouteOnDay {
  /** The route as routing judges it: by the names of its models. */
  readonly named: Route;
  /** The route by the models that answer. Null: no name is redirected to a model of which something is known. */
  readonly answered: Route | null;
}

export function routeOnDay(route: Route, day: string, evidence: Evidence, modelOn: ModelOn): RouteOnDay {
  const isRedirected = (target: Target): boolean => {
    const redirect = redirectOf(target);
    return redirect !== undefined && redirect.date <= day && isEnough(redirect, evidence);
  };
  const models = route.targets.map((target) => (isRedirected(target) ? answeringModels(target, modelOn) : null));
  const judged = (answering: readonly (TargetModels | null)[]): Route => ({
    ...route,
    targets: route.targets.map((target, index) => judgedTarget(target, answering[index] ?? target, evidence)),
  });
  return { named: judged([]), answered: models.every((each) => each === null) ? null : judged(models) };
}

/** Null: not redirected, or nothing is known. A model for files is not the one that answers a live model's name, although both names are the same. */
export function answeringModels(target: Target, modelOn: ModelOn): TargetModels | null {
  const redirect = redirectOf(target);
  const answering = redirect === undefined ? null : modelOn(target, redirect.model);
  return answering?.speech?.streamsOnly === target.speech?.streamsOnly ? answering : null;
}

function judgedTarget(target: Target, { speech, chat }: TargetModels, evidence: Evidence): Target {
  // What ends is the name, whatever model answers it.
  return {
    ...target,
    speech: withLife(speech, target.speech?.life, evidence),
    chat: withLife(chat, target.chat?.life, evidence),
  };
}

function isEnough(end: ModelEnd, evidence: Evidence): boolean {
  return evidence === "any" || end.evidence === "vendor";
}

function withLife<Model extends { readonly life?: ModelLife }>(
  model: Model | null,
  life: ModelLife | undefined,
  evidence: Evidence,
): Model | null {
  if (model === null || life === undefined) return model;
  if (life.endsOn === undefined || evidence === "vendor") return { ...model, life };
  return { ...model, life: { ...life, endsOn: { ...life.endsOn, evidence: "vendor" } } };
}

/** Every date on which a target ends or is answered by another model, in order. */
export function datesOf(route: Route): readonly string[] {
  return [...new Set(route.targets.flatMap((target) => endsOf(target).map(({ date }) => date)))].toSorted();
}

/** Why a target changes on this very day, ends before redirects. */
export function changeOn(target: Target, day: string): ModelEnd | ModelRedirect | undefined {
  return endsOf(target).find(({ date }) => date === day);
}

export function redirectOf(target: Target): ModelRedirect | undefined {
  return livesOf(target).find(({ redirect }) => redirect !== undefined)?.redirect;
}

export function livesOf({ speech, chat }: TargetModels): readonly ModelLife[] {
  return [speech?.life, chat?.life].filter((life) => life !== undefined);
}

function endsOf(target: Target): readonly (ModelEnd | ModelRedirect)[] {
  const lives = livesOf(target);
  return [...lives.map(({ endsOn }) => endsOn), ...lives.map(({ redirect }) => redirect)].filter(
    (end) => end !== undefined,
  );
}
