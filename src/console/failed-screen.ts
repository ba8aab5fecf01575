// In the place of a screen that could not be drawn: why, and the way to try it again.
import { button, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";
import type { Address } from "./address.ts";
import { Unanswered } from "./visit.ts";

/** null: the key is refused. */
export function failedScreen(error: unknown, again: () => Promise<void>): readonly Node[] | null {
  if (!(error instanceof Unanswered)) return [faultView(error)];
  const { failure, requestId } = error.outcome;
  if (failure.kind === "refused" && failure.status === 401) return null;
  const view = failureView(failure, requestId);
  if (failure.kind === "refused" && !failure.error.retryable) return [view];
  return [view, element("div", { class: "row" }, button("Try again", again))];
}

function faultView(error: unknown): HTMLElement {
  const said = error instanceof Error ? error.message : "unknown";
  return element(
    "section",
    { class: "failure", role: "alert" },
    element("h2", {}, "This screen failed"),
    element(
      "p",
      {},
      `It is a fault of the console's: ${said}. Load the page again; what it shows can be read by the API as well.`,
    ),
  );
}

export function noScreen({ screen }: Address): HTMLElement {
  return element("p", { class: "empty" }, `There is no screen “${screen}” here. Choose one on the left.`);
}
