// A route with its targets as they are answered on a day: after a redirect, by another model [retirement.redirect]. Pure.
import type { ModelEnd, ModelLife, ModelRedirect } from "../../providers/model-life.ts";
import type { Route, Target } from "../../routing/types.ts";

/** `vendor`: only dates from the providers themselves, as in routing. `any`: second-hand dates count like them. */
export type Evidence = "vendor" | "any";

export type TargetModels = Pick<Target, "speech" | "chat">;

/** What a model on the target's account can do. Null: nothing is known of it. */
export type ModelOn = (target: Target, model: string) => TargetModels | null;

export function routeOnDay(route: Route, day: string, evidence: Evidence, modelOn: ModelOn): Route {
  return { ...route, targets: route.targets.map((target) => targetOnDay(target, day, evidence, modelOn)) };
}

function targetOnDay(target: Target, day: string, evidence: Evidence, modelOn: ModelOn): Target {
  const redirect = redirectOf(target);
  const isRedirected = redirect !== undefined && redirect.date <= day && isEnough(redirect, evidence);
  const { speech, chat } = (isRedirected ? modelOn(target, redirect.model) : null) ?? target;
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
