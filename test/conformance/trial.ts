// One request and what must come of it.
import type { Request } from "./requests.ts";

/** What an answer to it must be besides documented. */
export type Expectation =
  | { readonly kind: "documented" }
  | { readonly kind: "refused" }
  | { readonly kind: "status"; readonly statuses: readonly number[] }
  | { readonly kind: "head" }
  | { readonly kind: "no endpoint" }
  | { readonly kind: "method"; readonly allowed: readonly string[] };

export interface Trial {
  readonly name: string;
  readonly request: Request;
  readonly expected: Expectation;
}

export const REFUSED: Expectation = { kind: "refused" };
export const DOCUMENTED: Expectation = { kind: "documented" };
export const status = (...statuses: number[]): Expectation => ({ kind: "status", statuses });
