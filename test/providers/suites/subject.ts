// What a provider hands to the contract suite, and how its golden models become targets.
import assert from "node:assert/strict";
import type { SpeechModel, SpeechPlan, SpeechProvider, SpeechTarget } from "../../../src/providers/provider.ts";
import type { GoldenModel, Parameter } from "./fixtures.ts";

export interface ContractSubject {
  readonly provider: SpeechProvider;
  readonly golden: readonly GoldenModel[];
  /** The header that carries the credential `key-…`, as the provider documents it; `authorization` unless named. */
  readonly credentialHeader?: string;
  readonly authorization: (credential: string) => string;
  /** Of a JSON body with the audio in it: where it is, as base64. */
  readonly audioIn?: (body: unknown) => unknown;
  /** A documented success body for the first golden model's base request. */
  readonly success: unknown;
  /** A refusal in the provider's own shape, with this text in its free-text fields and this code in its code field. */
  readonly refusal: (code: string, text: string) => unknown;
  /** Its refusals are prose alone. */
  readonly hasNoCodes?: boolean;
  /**
   * Of a provider that is submitted to and polled: its answers to what comes before the paid submission. The suite's
   * failures are those of the submission; what a connection suffers before it has led to nothing.
   */
  readonly before?: (path: string) => unknown;
  /** Of a provider with several wires: what the model's own has in the place of the first model's. */
  readonly wireOf?: (golden: GoldenModel) => Pick<ContractSubject, "refusal" | "before">;
}

export function targetOf(provider: SpeechProvider, golden: GoldenModel): { speech: SpeechModel; target: SpeechTarget } {
  const speech = golden.declared ?? provider.models[golden.model];
  assert.ok(speech, `${golden.model} is neither in the catalogue nor declared`);
  return { speech, target: { model: golden.model, speech, settings: golden.settings ?? {} } };
}

export function parametersOf(plan: SpeechPlan): readonly Parameter[] {
  switch (plan.kind) {
    case "raw":
      return plan.query;
    case "multipart":
      return plan.fields;
    case "json":
      return flattened(plan.body);
  }
}

/** Members of members by their path; lists and plain values in JSON. */
function flattened(body: object, prefix = ""): readonly Parameter[] {
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? flattened(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, JSON.stringify(value)] as const],
  );
}
