// A button that performs an action after a confirmation, and shows a refusal below it with what to do.
import type { Outcome } from "../page/ask.ts";
import { button, element } from "../page/element.ts";
import { confirmed } from "./dialog.ts";
import { callWithError } from "./call-with-error.ts";

interface Action<T> {
  readonly label: string;
  /** Accessible name that contains the label, if several buttons share one label. */
  readonly name?: string;
  /** Default: "danger". */
  readonly tone?: "danger" | "primary" | "plain";
  /** Title and text of the confirmation: what happens, and to which objects. */
  readonly title: string;
  readonly what: Node | string;
  readonly run: () => Promise<Outcome<T>>;
  readonly done: (data: T) => void | Promise<void>;
  /** What to do about a refusal with this code. */
  readonly help?: (code: string) => Node | null;
  /** Rereads the object; offered if it was changed since it was read. */
  readonly again?: () => void | Promise<void>;
}

export function actionView<T>({
  label,
  name,
  tone = "danger",
  title,
  what,
  run,
  done,
  help,
  again,
}: Action<T>): HTMLElement {
  const problem = element("div", {});
  const go = button(label, async () => {
    problem.replaceChildren();
    if (!(await confirmed(title, what, label))) return;
    const outcome = await callWithError(problem, run, again);
    if (outcome.ok) return done(outcome.data);
    const { failure } = outcome;
    const way = failure.kind === "refused" ? (help?.(failure.error.code) ?? null) : null;
    if (way !== null) problem.append(element("p", {}, way));
  });
  if (name !== undefined) go.setAttribute("aria-label", name);
  if (tone !== "plain") go.className = tone;
  return element("div", {}, element("div", { class: "row" }, go), problem);
}
