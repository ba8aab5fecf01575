// Why a change was not made; where the state that it was made from is no more, in words and with the way to begin anew.
import type { Failure } from "../page/ask.ts";
import { button, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";

const OVERTAKEN = [
  "Somebody else changed it meanwhile",
  "Nothing of yours was saved, for it would have undone theirs. Read it anew, and change what is there now.",
] as const;
const ARRIVED = [
  "The first try did arrive",
  "Its answer was lost on the way, but what was filled in then was done. What is filled in now was not. Read anew what there is.",
] as const;
/** 412: another state than the one that was read. 428: it was not there when it was read, and is now. */
const WORDS: Readonly<Record<string, readonly [title: string, what: string]>> = {
  PRECONDITION_FAILED: OVERTAKEN,
  PRECONDITION_REQUIRED: OVERTAKEN,
  IDEMPOTENCY_KEY_REUSED: ARRIVED,
};

/** `again` reads what there is now, in the place of what was filled in. */
export function refusalView(
  failure: Failure,
  requestId: string | null,
  again?: () => void | Promise<void>,
): HTMLElement {
  const words = failure.kind === "refused" ? WORDS[failure.error.code] : undefined;
  if (again === undefined || words === undefined) return failureView(failure, requestId);
  const [title, what] = words;
  return element(
    "section",
    { class: "failure", role: "alert" },
    element("h2", {}, title),
    element("p", {}, what),
    element("div", { class: "row" }, button("Read it anew", again)),
  );
}
