// Where a model is in its life at a given time: current, deprecated, ending or retired [providers.model-status]. Dates are UTC days. Pure.
import { lifeText } from "../lib/text/life-text.ts";
import type { ModelEnd, ModelLife, ModelSuccessor, NotOffered } from "./model-life.ts";

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

/** The end of a model that a new target should not have. */
export interface NearEnd {
  readonly date: string;
  /** 0 or less: it has ended. */
  readonly daysLeft: number;
  readonly evidence: ModelEnd["evidence"];
  readonly source: string;
  readonly replacedBy: readonly ModelSuccessor[];
}

/** A new target whose model ends in fewer days needs a confirmation [routing.ending-confirmed]. */
export const NEAR_END_DAYS = 30;

/** Null: the model has no announced end, or one in 30 days or later. */
export function nearEnd(life: ModelLife | undefined, nowMs: number): NearEnd | null {
  const end = life?.endsOn;
  if (life === undefined || end === undefined) return null;
  const daysLeft = daysUntil(end.date, nowMs);
  if (daysLeft >= NEAR_END_DAYS) return null;
  const { date, evidence, source = life.source } = end;
  return { date, daysLeft, evidence, source, replacedBy: life.replacedBy ?? [] };
}

/** `oa/whisper-1 ends on 2027-02-26 (source: the page); replaced by gpt-transcribe (without timestamps.word)`. */
export function nearEndText(name: string, { date, daysLeft, evidence, source, replacedBy }: NearEnd): string {
  const successors = replacedBy.map(({ model, lacks }) =>
    lacks.length === 0 ? model : `${model} (without ${lacks.join(", ")})`,
  );
  const origin = evidence === "vendor" ? source : `second-hand, ${source}`;
  return `\`${name}\` ${daysLeft > 0 ? "ends" : "ended"} on ${date} (source: ${origin})${successors.length === 0 ? "" : `; replaced by ${successors.join(" or ")}`}`;
}

/** `name is known, not offered here since 2026-11-27: the reason`. */
export function notOfferedText(name: string, { since, reason }: NotOffered): string {
  return `${name} is known, not offered here since ${since}: ${reason}`;
}

/** For the sandbox, which serves models that their providers have ended. */
export function withoutLife<Model extends { readonly life?: ModelLife }>(model: Model): Omit<Model, "life"> {
  const { life: _, ...rest } = model;
  return rest;
}

/** Whole UTC days from the day of `nowMs` until `date`. 0 or less: the date has come. */
export function daysUntil(date: string, nowMs: number): number {
  return Math.ceil((Date.parse(date) - nowMs) / DAY_MS);
}

/** For people: `ends in 30 days`. */
export function statusText(status: LifeStatus): string {
  return lifeText(status.status, status.status === "ending" ? status.daysLeft : null);
}
