// The end of a model by the provider's own list of an account, which takes precedence over the catalogue [providers.listed-ends]. Pure.
import type { ModelLife } from "../providers/model-life.ts";

export interface ListedEnd {
  /** First day of refusal. */
  readonly date: string;
  /** Day on which the list was read. */
  readonly readOn: string;
}

export type ListedEnds = Readonly<Record<string, ListedEnd>>;

export function withListedEnd(life: ModelLife | undefined, listed: ListedEnd | undefined): ModelLife | undefined {
  if (listed === undefined) return life;
  const source = `the provider's list of models, read on ${listed.readOn}`;
  const endsOn = { date: listed.date, evidence: "vendor", source } as const;
  return life === undefined ? { verifiedOn: listed.readOn, source, endsOn } : { ...life, endsOn };
}

/** The model with that end. Null stays null. */
export function withEnd<Model extends { readonly life?: ModelLife }>(
  model: Model | null,
  listed: ListedEnd | undefined,
): Model | null {
  const life = withListedEnd(model?.life, listed);
  return model === null || life === undefined ? model : { ...model, life };
}
