// A form: fields by name, one call, and every refusal told at the field it is about.
import type { Failure, Outcome } from "../page/ask.ts";
import { button, element } from "../page/element.ts";
import { refusalView } from "./refusal-view.ts";

interface FieldOf<K extends string> {
  readonly kind: K;
  /** As the body has it; `quota.concurrent` is a field of an object in it. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
}
export type Choice = readonly [value: string, label: string];
export type Field =
  | (FieldOf<"text" | "password" | "number" | "time" | "lines" | "json"> & {
      /** Of a time: RFC 3339. */
      readonly value?: string;
      /** Of a text: what it may well be, and need not. */
      readonly suggestions?: readonly string[];
      /** Why it cannot be what was typed; null: it can. */
      readonly fault?: (typed: string) => string | null;
      readonly placeholder?: string;
    })
  | (FieldOf<"select"> & { readonly choices: readonly Choice[]; readonly value?: string })
  | (FieldOf<"checks"> & { readonly choices: readonly Choice[]; readonly value?: readonly string[] })
  | (FieldOf<"check"> & { readonly value?: boolean })
  /**
   * A part of the screen's own. `value` answers as `valueOf` does. What in it is at fault is found by its `data-param`, which a refusal
   * names in `param` and an Error in its `cause`.
   */
  | (FieldOf<"custom"> & { readonly view: HTMLElement; readonly value: () => unknown });

export interface FormOptions<T> {
  readonly fields: readonly Field[];
  readonly submit: string;
  /** `body`: what was filled in; an empty field is not in it. */
  readonly send: (body: Readonly<Record<string, unknown>>) => Promise<Outcome<T>>;
  /** Asked before anything is sent: whether it is meant. */
  readonly confirm?: (body: Readonly<Record<string, unknown>>) => Promise<boolean>;
  readonly done: (data: T) => void | Promise<void>;
  /** Reads what there is now; offered where somebody else changed it since it was read. */
  readonly again?: () => void | Promise<void>;
  /** A second button beside the first: what it does with what was filled in. */
  readonly also?: { readonly label: string; readonly press: (body: Readonly<Record<string, unknown>>) => void };
}

/** Fields have ids of their own, for a page may hold two forms with the same names. */
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
    void run();
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
    go.disabled = true;
    const outcome = await send(body);
    go.disabled = false;
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

  /** null: a field is at fault, and says so. */
  function bodyOf(): Readonly<Record<string, unknown>> | null {
    const body: Record<string, unknown> = {};
    for (const field of fields) {
      const value = valueOf(form, field, idOf(prefix, field));
      if (value instanceof Error) return (fault(field, value.message, value.cause), null);
      const wrong = "fault" in field && typeof value === "string" ? (field.fault?.(value) ?? null) : null;
      if (wrong !== null) return (fault(field, wrong), null);
      if (value === undefined && field.isRequired === true) return (fault(field, "This is needed."), null);
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
    // A field of several parts may have several faults.
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

/** Every fault that a refusal names, as `details.issues` lists them. */
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

function fieldView(field: Field, id: string): HTMLElement {
  const hint = element("small", { id: `${id}-hint` }, field.hint ?? "");
  const fault = element("p", { id: `${id}-fault`, class: "bad", role: "alert" });
  const described = { id, "aria-describedby": `${id}-hint ${id}-fault` };
  if (field.kind === "checks") {
    const group = element("fieldset", { class: "field", tabindex: "-1", ...described });
    group.append(element("legend", {}, field.label));
    for (const [value, label] of field.choices) {
      const box = element("input", { type: "checkbox", value });
      box.checked = field.value?.includes(value) ?? false;
      group.append(element("label", {}, box, label));
    }
    group.append(hint, fault);
    return group;
  }
  if (field.kind === "custom") {
    const group = element("fieldset", { class: "field", tabindex: "-1", ...described });
    group.append(element("legend", {}, field.label), hint, field.view, fault);
    return group;
  }
  const label = element("label", { for: id }, field.label);
  if (field.kind === "check") {
    const box = element("input", { type: "checkbox", ...described });
    box.checked = field.value ?? false;
    label.prepend(box);
    return element("div", { class: "check" }, label, hint, fault);
  }
  if (field.isRequired !== true) label.append(element("span", { class: "soft" }, " (may stay empty)"));
  return element(
    "div",
    { class: "field" },
    label,
    controlOf(field, described),
    ...suggestionsView(field, id),
    hint,
    fault,
  );
}

function controlOf(
  field: Exclude<Field, { kind: "checks" | "check" | "custom" }>,
  described: Readonly<Record<string, string>> & { readonly id: string },
): HTMLElement {
  if (field.kind === "select") {
    const select = element("select", described);
    select.append(...field.choices.map(([value, label]) => element("option", { value }, label)));
    select.value = field.value ?? field.choices[0]?.[0] ?? "";
    return select;
  }
  const placeholder = field.placeholder === undefined ? {} : { placeholder: field.placeholder };
  if (field.kind === "lines" || field.kind === "json") {
    const area = element("textarea", {
      rows: field.kind === "json" ? "14" : "5",
      spellcheck: "false",
      ...placeholder,
      ...described,
    });
    area.value = field.value ?? "";
    return area;
  }
  const type = field.kind === "password" ? "password" : field.kind === "time" ? "datetime-local" : "text";
  const numeric = field.kind === "number" ? { inputmode: "decimal" } : {};
  const input = element("input", {
    type,
    autocomplete: "off",
    spellcheck: "false",
    ...numeric,
    ...(suggestionsFor(field).length > 0 ? { list: `${described.id}-list` } : {}),
    ...placeholder,
    ...described,
  });
  const value = field.value ?? "";
  input.value = field.kind === "time" ? localTime(value) : value;
  return input;
}

const suggestionsFor = (field: Field): readonly string[] => ("suggestions" in field ? (field.suggestions ?? []) : []);

function suggestionsView(field: Field, id: string): readonly Node[] {
  const options = suggestionsFor(field).map((value) => element("option", { value }));
  return options.length === 0 ? [] : [element("datalist", { id: `${id}-list` }, ...options)];
}

/** As the browser's control takes it: in the reader's zone, to the last digit that is not zero, so that it comes back unchanged. */
function localTime(iso: string): string {
  if (iso === "") return "";
  const time = new Date(iso);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
  return local.replace(/(:00)?\.000$/u, "");
}

/** undefined: nothing was filled in. An Error: it cannot be what the field is. */
function valueOf(form: HTMLFormElement, field: Field, id: string): unknown {
  if (field.kind === "custom") return field.value();
  if (field.kind === "checks")
    return [...form.querySelectorAll<HTMLInputElement>(`#${id} input:checked`)].map(({ value }) => value);
  const control = form.querySelector<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(`#${id}`);
  if (control instanceof HTMLInputElement && field.kind === "check") return control.checked;
  const text = control?.value.trim() ?? "";
  if (text === "") return undefined;
  if (field.kind === "number")
    return Number.isFinite(Number(text)) ? Number(text) : new Error("This must be a number.");
  if (field.kind === "time") return new Date(text).toISOString();
  if (field.kind === "lines") return text.split(/\s*\n\s*/u);
  if (field.kind !== "json") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return new Error(`This is no JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

function put(body: Record<string, unknown>, [name = "", ...below]: readonly string[], value: unknown): void {
  if (below.length === 0) body[name] = value;
  else put((body[name] ??= {}) as Record<string, unknown>, below, value);
}
