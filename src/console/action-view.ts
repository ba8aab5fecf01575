// A button that ends or begins something: asked first, done, and its refusal told beneath it with the way out.
import type { Outcome } from "../page/ask.ts";
import { button, element } from "../page/element.ts";
import { confirmed } from "./dialog.ts";
import { toldIn } from "./told.ts";

interface Action<T> {
  readonly label: string;
  /** Where several of the label stand: what each is about, and the label in it. */
  readonly name?: string;
  /** Ends something, unless told otherwise. */
  readonly tone?: "danger" | "primary" | "plain";
  /** The question, and what will happen to whom. */
  readonly title: string;
  readonly what: Node | string;
  readonly run: () => Promise<Outcome<T>>;
  readonly done: (data: T) => void | Promise<void>;
  /** What to do about a refusal with this code. */
  readonly help?: (code: string) => Node | null;
  /** Reads what there is now; offered where somebody else changed it since it was read. */
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
    const outcome = await toldIn(problem, run, again);
    if (outcome.ok) return done(outcome.data);
    const { failure } = outcome;
    const way = failure.kind === "refused" ? (help?.(failure.error.code) ?? null) : null;
    if (way !== null) problem.append(element("p", {}, way));
  });
  if (name !== undefined) go.setAttribute("aria-label", name);
  if (tone !== "plain") go.className = tone;
  return element("div", {}, element("div", { class: "row" }, go), problem);
}
