// What a provider hands to the contract suite, and how its golden models become targets.
import assert from "node:assert/strict";
import type { SpeechModel, SpeechPlan, SpeechProvider, SpeechTarget } from "../../src/providers/provider.ts";
import type { GoldenModel, Parameter } from "./fixtures.ts";

export interface ContractSubject {
  readonly provider: SpeechProvider;
  readonly golden: readonly GoldenModel[];
  /** The header that carries the credential `key-…`, as the provider documents it. */
  readonly authorization: (credential: string) => string;
  /** A documented success body for the first golden model's base request. */
  readonly success: unknown;
  /** A refusal in the provider's own shape, with this text in its free-text fields and this code in its code field. */
  readonly refusal: (code: string, text: string) => unknown;
}

export function targetOf(provider: SpeechProvider, golden: GoldenModel): { speech: SpeechModel; target: SpeechTarget } {
  const speech = golden.declared ?? provider.models[golden.model];
  assert.ok(speech, `${golden.model} is neither in the catalogue nor declared`);
  return { speech, target: { model: golden.model, speech, settings: golden.settings ?? {} } };
}

export function parametersOf(plan: SpeechPlan): readonly Parameter[] {
  return plan.kind === "raw" ? plan.query : plan.fields;
}
