// Shows why a change was refused; after a concurrent change, it offers to reread the object.
import type { Failure } from "../page/ask.ts";
import { button, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";

const OVERTAKEN = [
  "Conflict: changed by another user",
  "Your changes were not saved, because they would overwrite the other change. Reload and try again.",
] as const;
const ARRIVED = [
  "The first attempt succeeded",
  "Its response was lost, but those values were saved. The current values were not. Reload to see the saved state.",
] as const;
/** 412: the object has changed since it was read. 428: it did not exist when it was read, and does now. */
const WORDS: Readonly<Record<string, readonly [title: string, what: string]>> = {
  PRECONDITION_FAILED: OVERTAKEN,
  PRECONDITION_REQUIRED: OVERTAKEN,
  IDEMPOTENCY_KEY_REUSED: ARRIVED,
};

/** `again` rereads the object and discards the input. */
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
    element("div", { class: "row" }, button("Reload", again)),
  );
}
