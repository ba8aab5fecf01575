// Replaces a screen that could not be drawn, with the error and a button to retry.
import { button, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";
import type { Address } from "./address.ts";
import { Unanswered } from "./visit.ts";

/** Null: the key was rejected. */
export function failedScreen(error: unknown, again: () => Promise<void>): readonly Node[] | null {
  if (!(error instanceof Unanswered)) return [faultView(error)];
  const { failure, requestId } = error.outcome;
  if (failure.kind === "refused" && failure.status === 401) return null;
  const view = failureView(failure, requestId);
  if (failure.kind === "refused" && !failure.error.retryable) return [view];
  return [view, element("div", { class: "row" }, button("Try again", again))];
}

function faultView(error: unknown): HTMLElement {
  const errorText = error instanceof Error ? error.message : "unknown";
  return element(
    "section",
    { class: "failure", role: "alert" },
    element("h2", {}, "This screen could not be loaded"),
    element("p", {}, `Console error: ${errorText}. Reload the page. The same data is available through the API.`),
  );
}

export function noScreen({ screen }: Address): HTMLElement {
  return element("p", { class: "empty" }, `Unknown screen “${screen}”. Choose one on the left.`);
}
