// Why a change was not made; where somebody else was faster, with the way to begin anew.
import type { Failure } from "../page/ask.ts";
import { button, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";

const CHANGED_MEANWHILE = 412;

/** `again` reads what there is now. */
export function refusalView(
  failure: Failure,
  requestId: string | null,
  again?: () => void | Promise<void>,
): readonly Node[] {
  const view = failureView(failure, requestId);
  if (again === undefined || failure.kind !== "refused" || failure.status !== CHANGED_MEANWHILE) return [view];
  view.append(
    element("p", {}, "Somebody else changed it since it was opened here. Nothing of yours was saved."),
    element("div", { class: "row" }, button("Read it anew", again)),
  );
  return [view];
}
