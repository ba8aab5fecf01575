// A form: named fields, one call, and every error shown at its field.
import type { Failure, Outcome } from "../page/ask.ts";
import { button, element, pressed } from "../page/element.ts";
import type { Field } from "./field.ts";
import { put, valueOf } from "./field-value.ts";
import { fieldView } from "./field-view.ts";
import { refusalView } from "./refusal-view.ts";

export type { Field } from "./field.ts";
export type { Choice } from "./plain-field.ts";

export interface FormOptions<T> {
  readonly fields: readonly Field[];
  readonly submit: string;
  /** `body`: the filled-in values, without empty fields. */
  readonly send: (body: Readonly<Record<string, unknown>>) => Promise<Outcome<T>>;
  /** Asks for confirmation before sending. */
  readonly confirm?: (body: Readonly<Record<string, unknown>>) => Promise<boolean>;
  readonly done: (data: T) => void | Promise<void>;
  /** Rereads the object; offered if it was changed since it was read. */
  readonly again?: () => void | Promise<void>;
  /** A second button next to the first, and its action on the filled-in values. */
  readonly also?: { readonly label: string; readonly press: (body: Readonly<Record<string, unknown>>) => void };
}

/** Counter for unique field ids: a page may have two forms with the same names. */
let forms = 0;

export function formView<T>({ fields, submit, send, confirm, done, again, also }: FormOptions<T>): HTMLFormElement {
  forms += 1;
  const prefix = `form-${forms}`;
  const form = element("form", { class: "form", novalidate: "" });
  const go = element("button", { class: "primary" }, submit);
  const problem = element("div", {});
  form.append(
    ...fields.map((field) => fieldView(field, idOf(prefix, field))),
    element("div", { class: "row wrap" }, go, ...(also === undefined ? [] : [alsoButton(also)])),
    problem,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void pressed(go, run);
  });
  return form;

  function alsoButton({ label, press }: NonNullable<FormOptions<T>["also"]>): HTMLButtonElement {
    return button(label, () => {
      clear();
      const body = bodyOf();
      if (body !== null) press(body);
    });
  }

  async function run(): Promise<void> {
    clear();
    const body = bodyOf();
    if (body === null || (confirm !== undefined && !(await confirm(body)))) return;
    const outcome = await send(body);
    if (outcome.ok) return done(outcome.data);
    const { failure, requestId } = outcome;
    const faults = issuesIn(failure).map(({ param, message }) => ({
      field: fieldOf(fields, param),
      param,
      message,
    }));
    for (const { field, message, param } of faults.toReversed()) if (field !== undefined) fault(field, message, param);
    if (faults.length > 0 && faults.every(({ field }) => field !== undefined)) return;
    problem.replaceChildren(refusalView(failure, requestId, again));
  }

  /** Null: a field is invalid and shows its error. */
  function bodyOf(): Readonly<Record<string, unknown>> | null {
    const body: Record<string, unknown> = {};
    for (const field of fields) {
      const value = valueOf(form, field, idOf(prefix, field));
      if (value instanceof Error) return (fault(field, value.message, value.cause), null);
      const wrong = "fault" in field && typeof value === "string" ? (field.fault?.(value) ?? null) : null;
      if (wrong !== null) return (fault(field, wrong), null);
      if (value === undefined && field.isRequired === true) return (fault(field, "Required."), null);
      if (value !== undefined) put(body, field.name.split("."), value);
    }
    return body;
  }

  function fault(field: Field, message: string, param: unknown = null): void {
    const id = idOf(prefix, field);
    const isAt = (name = ""): boolean => param === name || (typeof param === "string" && isBelow(param, name));
    const parts = [...form.querySelectorAll<HTMLElement>("[data-param]")];
    const part = parts.find(({ dataset }) => isAt(dataset["param"]));
    const control = part ?? form.querySelector<HTMLElement>(`#${id}`);
    const line = form.querySelector(`#${id}-fault`);
    // A compound field may have several errors.
    if (line !== null) line.textContent = `${message} ${line.textContent}`.trim();
    control?.closest("details")?.setAttribute("open", "");
    control?.setAttribute("aria-invalid", "true");
    control?.focus();
  }

  function clear(): void {
    problem.replaceChildren();
    for (const marked of form.querySelectorAll("[aria-invalid]")) marked.removeAttribute("aria-invalid");
    for (const field of fields) {
      const id = idOf(prefix, field);
      const line = form.querySelector(`#${id}-fault`);
      if (line !== null) line.textContent = "";
    }
  }
}

const idOf = (prefix: string, { name }: Field): string => `${prefix}-${name.replaceAll(/[^\w-]/gu, "-")}`;

interface Fault {
  readonly param: string | null;
  readonly message: string;
}

/** All errors of a refusal, from `details.issues`. */
function issuesIn(failure: Failure): readonly Fault[] {
  if (failure.kind !== "refused") return [];
  const { param, message, details } = failure.error;
  const issues: unknown = details?.["issues"];
  return Array.isArray(issues) && issues.length > 0 ? (issues as readonly Fault[]) : [{ param, message }];
}

const fieldOf = (fields: readonly Field[], param: string | null): Field | undefined =>
  fields.find(({ name }) => param === name) ?? fields.find(({ name }) => isBelow(param, name));

const isBelow = (param: string | null, name: string): boolean =>
  param !== null && param.startsWith(name) && /^[.[]/u.test(param.slice(name.length));
