// Several reads on one screen, each of which may fail without the others: its failure stands where its answer would.
import type { Outcome, Refused } from "../page/ask.ts";
import { wordsOf } from "../page/error-view.ts";
import { element } from "../page/element.ts";
import { Unanswered, type Visit } from "./visit.ts";

/** What went wrong is returned; but of a key that works no more nothing can be shown at all. */
export async function tried<T>(visit: Visit, path: string): Promise<Outcome<T>> {
  const outcome = await visit.ask<T>("GET", path);
  if (!outcome.ok && outcome.failure.kind === "refused" && outcome.failure.status === 401)
    throw new Unanswered(outcome);
  return outcome;
}

export function failureLine({ failure, requestId }: Refused): HTMLElement {
  const line = element("p", { class: "bad", role: "alert" }, `This could not be read: ${wordsOf(failure)}`);
  if (requestId !== null) line.append(" Request ", element("code", {}, requestId), ".");
  return line;
}
