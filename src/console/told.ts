// A call whose refusal is told where it was made.
import type { Outcome } from "../page/ask.ts";
import { refusalView } from "./refusal-view.ts";

/** A refusal is shown in `problem`, in the place of what stood there; `again` as `refusalView` has it. */
export async function toldIn<T>(
  problem: HTMLElement,
  call: () => Promise<Outcome<T>>,
  again?: () => void | Promise<void>,
): Promise<Outcome<T>> {
  problem.replaceChildren();
  const outcome = await call();
  if (!outcome.ok) problem.replaceChildren(refusalView(outcome.failure, outcome.requestId, again));
  return outcome;
}
