// Rewrites a refusal for the user of the form: `faults[2].failure.status` becomes the field `failure.status`.
import type { Outcome } from "../page/ask.ts";

interface Issue {
  readonly param: string | null;
  readonly message: string;
}

/** `fieldOf`: maps the parameter of an error to the form's field. */
export function refusedAt<T>(outcome: Outcome<T>, fieldOf: (param: string) => string): Outcome<T> {
  return retold(outcome, (issue) => (issue.param === null ? issue : { ...issue, param: fieldOf(issue.param) }));
}

/** Rewrites the message of each error. */
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
