// A refusal in the words of who filled in the form: `faults[2].failure.status` is its field `failure.status`.
import type { Outcome } from "../page/ask.ts";

interface Issue {
  readonly param: string | null;
  readonly message: string;
}

/** `fieldOf`: the field that a fault is shown at, where the form calls it otherwise. */
export function refusedAt<T>(outcome: Outcome<T>, fieldOf: (param: string) => string): Outcome<T> {
  return retold(outcome, (issue) => (issue.param === null ? issue : { ...issue, param: fieldOf(issue.param) }));
}

/** Each fault in other words. */
export function refusedAs<T>(outcome: Outcome<T>, wordsOf: (message: string) => string): Outcome<T> {
  return retold(outcome, (issue) => ({ ...issue, message: wordsOf(issue.message) }));
}

function retold<T>(outcome: Outcome<T>, change: <I extends Issue>(issue: I) => I): Outcome<T> {
  if (outcome.ok || outcome.failure.kind !== "refused") return outcome;
  const { failure } = outcome;
  const error = change(failure.error);
  const issues: unknown = error.details?.["issues"];
  if (!Array.isArray(issues)) return { ...outcome, failure: { ...failure, error } };
  const details = { ...error.details, issues: (issues as readonly Issue[]).map(change) };
  return { ...outcome, failure: { ...failure, error: { ...error, details } } };
}
