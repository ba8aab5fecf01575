// A refusal that names more than the form shows: `faults[2].failure.status` is its field `failure.status`.
import type { Outcome } from "../page/ask.ts";

interface Issue {
  readonly param: string | null;
}

export function refusedAt<T>(outcome: Outcome<T>, fieldOf: (param: string) => string): Outcome<T> {
  if (outcome.ok || outcome.failure.kind !== "refused") return outcome;
  const { failure } = outcome;
  const renamed = <I extends Issue>(issue: I): I =>
    issue.param === null ? issue : { ...issue, param: fieldOf(issue.param) };
  const error = renamed(failure.error);
  const issues: unknown = error.details?.["issues"];
  if (!Array.isArray(issues)) return { ...outcome, failure: { ...failure, error } };
  const details = { ...error.details, issues: (issues as readonly Issue[]).map(renamed) };
  return { ...outcome, failure: { ...failure, error: { ...error, details } } };
}
