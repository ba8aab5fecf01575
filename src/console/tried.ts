// Several reads of one screen that may fail independently; an error is shown in place of its answer.
import type { Outcome, Refused } from "../page/ask.ts";
import { wordsOf } from "../page/error-view.ts";
import { element } from "../page/element.ts";
import { Unanswered, type Visit } from "./visit.ts";

/** Returns failures, except a rejected key, which ends the whole screen. */
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
