// Runs a call and shows its refusal where it was started.
import type { Outcome } from "../page/ask.ts";
import { refusalView } from "./refusal-view.ts";

/** A refusal replaces the content of `problem`; `again` as in `refusalView`. */
export async function callWithError<T>(
  problem: HTMLElement,
  call: () => Promise<Outcome<T>>,
  again?: () => void | Promise<void>,
): Promise<Outcome<T>> {
  problem.replaceChildren();
  const outcome = await call();
  if (!outcome.ok) problem.replaceChildren(refusalView(outcome.failure, outcome.requestId, again));
  return outcome;
}
