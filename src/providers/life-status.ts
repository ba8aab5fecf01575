// Where a model is in its life at a given time: current, deprecated, ending or retired [providers.model-status]. Dates are UTC days. Pure.
import type { ModelLife } from "./model-life.ts";

export type LifeStatus =
  | { readonly status: "current" }
  /** Its provider advises against it, or answers its name by another model. */
  | { readonly status: "deprecated" }
  /** `daysLeft`: at least 1, which means that it is refused from tomorrow on. */
  | { readonly status: "ending"; readonly daysLeft: number }
  /** By any evidence. Only the provider's own makes a target ineligible: `vendorRetirement`. */
  | { readonly status: "retired" };

/** By the provider's own page or API. */
export interface ModelRetirement {
  /** The first day on which the provider refuses the model. */
  readonly date: string;
  readonly source: string;
}

const DAY_MS = 86_400_000;

export function lifeStatus({ deprecatedOn, endsOn, redirect }: ModelLife, nowMs: number): LifeStatus {
  if (endsOn !== undefined) {
    const daysLeft = daysUntil(endsOn.date, nowMs);
    return daysLeft > 0 ? { status: "ending", daysLeft } : { status: "retired" };
  }
  const isDeprecated = deprecatedOn !== undefined && daysUntil(deprecatedOn, nowMs) <= 0;
  return isDeprecated || redirect !== undefined ? { status: "deprecated" } : { status: "current" };
}

/** Null: the model is served, or only second-hand evidence says that it is not [routing.retired-second-hand]. */
export function vendorRetirement(life: ModelLife | undefined, nowMs: number): ModelRetirement | null {
  const end = life?.endsOn;
  if (life === undefined || end === undefined || end.evidence !== "vendor" || daysUntil(end.date, nowMs) > 0)
    return null;
  return { date: end.date, source: end.source ?? life.source };
}

/** For the sandbox, which serves models that their providers have ended. */
export function withoutLife<Model extends { readonly life?: ModelLife }>({ life: _, ...model }: Model): Omit<Model, "life"> {
  return model;
}

/** Whole UTC days from the day of `nowMs` until `date`. 0 or less: the date has come. */
export function daysUntil(date: string, nowMs: number): number {
  return Math.ceil((Date.parse(date) - nowMs) / DAY_MS);
}

/** For people: `ends in 30 days`. */
export function statusText(status: LifeStatus): string {
  if (status.status !== "ending") return status.status;
  return `ends in ${status.daysLeft} ${status.daysLeft === 1 ? "day" : "days"}`;
}
