// Why a change was not made; where somebody else was faster, in words and with the way to begin anew.
import type { Failure } from "../page/ask.ts";
import { button, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";

/** 412: another state than the one that was read. 428: it was not there when it was read, and is now. */
const OVERTAKEN: ReadonlySet<string> = new Set(["PRECONDITION_FAILED", "PRECONDITION_REQUIRED"]);

/** `again` reads what there is now, in the place of what was filled in. */
export function refusalView(
  failure: Failure,
  requestId: string | null,
  again?: () => void | Promise<void>,
): HTMLElement {
  if (again === undefined || failure.kind !== "refused" || !OVERTAKEN.has(failure.error.code))
    return failureView(failure, requestId);
  return element(
    "section",
    { class: "failure", role: "alert" },
    element("h2", {}, "Somebody else changed it meanwhile"),
    element(
      "p",
      {},
      "Nothing of yours was saved, for it would have undone theirs. Read it anew, and change what is there now.",
    ),
    element("div", { class: "row" }, button("Read it anew", again)),
  );
}
