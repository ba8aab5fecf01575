// A form: fields by name, one call, and every refusal told at the field it is about.
import type { Outcome } from "../page/ask.ts";
import { failureView } from "../page/error-view.ts";
import { element } from "../page/element.ts";

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
      readonly value?: string;
      readonly placeholder?: string;
    })
  | (FieldOf<"select"> & { readonly choices: readonly Choice[]; readonly value?: string })
  | (FieldOf<"checks"> & { readonly choices: readonly Choice[]; readonly value?: readonly string[] })
  | (FieldOf<"check"> & { readonly value?: boolean });

export interface FormOptions<T> {
  readonly fields: readonly Field[];
  readonly submit: string;
  /** `body`: what was filled in; an empty field is not in it. */
  readonly send: (body: Readonly<Record<string, unknown>>) => Promise<Outcome<T>>;
  readonly done: (data: T) => void | Promise<void>;
}

/** Fields have ids of their own, for a page may hold two forms with the same names. */
let forms = 0;

export function formView<T>({ fields, submit, send, done }: FormOptions<T>): HTMLFormElement {
  forms += 1;
  const prefix = `form-${forms}`;
  const form = element("form", { class: "form", novalidate: "" });
  const go = element("button", { class: "primary" }, submit);
  const problem = element("div", {});
  form.append(
    ...fields.map((field) => fieldView(field, idOf(prefix, field))),
    element("div", { class: "row" }, go),
    problem,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void run();
  });
  return form;

  async function run(): Promise<void> {
    clear();
    const body = bodyOf();
    if (body === null) return;
    go.disabled = true;
    const outcome = await send(body);
    go.disabled = false;
    if (outcome.ok) return done(outcome.data);
    const param = outcome.failure.kind === "refused" ? outcome.failure.error.param : null;
    const field = fields.find(({ name }) => param === name) ?? fields.find(({ name }) => isBelow(param, name));
    if (field !== undefined && outcome.failure.kind === "refused") return fault(field, outcome.failure.error.message);
    problem.replaceChildren(failureView(outcome.failure, outcome.requestId));
  }

  /** null: a field is at fault, and says so. */
  function bodyOf(): Readonly<Record<string, unknown>> | null {
    const body: Record<string, unknown> = {};
    for (const field of fields) {
      const value = valueOf(form, field, idOf(prefix, field));
      if (value instanceof Error) return (fault(field, value.message), null);
      if (value === undefined && field.isRequired === true) return (fault(field, "This is needed."), null);
      if (value !== undefined) put(body, field.name.split("."), value);
    }
    return body;
  }

  function fault(field: Field, message: string): void {
    const id = idOf(prefix, field);
    const control = form.querySelector<HTMLElement>(`#${id}`);
    const line = form.querySelector(`#${id}-fault`);
    if (line !== null) line.textContent = message;
    control?.setAttribute("aria-invalid", "true");
    control?.focus();
  }

  function clear(): void {
    problem.replaceChildren();
    for (const field of fields) {
      const id = idOf(prefix, field);
      form.querySelector(`#${id}`)?.removeAttribute("aria-invalid");
      const line = form.querySelector(`#${id}-fault`);
      if (line !== null) line.textContent = "";
    }
  }
}

const idOf = (prefix: string, { name }: Field): string => `${prefix}-${name.replaceAll(/[^\w-]/gu, "-")}`;

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
  const label = element("label", { for: id }, field.label);
  if (field.kind === "check") {
    const box = element("input", { type: "checkbox", ...described });
    box.checked = field.value ?? false;
    label.prepend(box);
    return element("div", { class: "check" }, label, hint, fault);
  }
  if (field.isRequired !== true) label.append(element("span", { class: "soft" }, " (may stay empty)"));
  return element("div", { class: "field" }, label, controlOf(field, described), hint, fault);
}

function controlOf(
  field: Exclude<Field, { kind: "checks" | "check" }>,
  described: Readonly<Record<string, string>>,
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
    ...placeholder,
    ...described,
  });
  input.value = field.value ?? "";
  return input;
}

/** undefined: nothing was filled in. An Error: it cannot be what the field is. */
function valueOf(form: HTMLFormElement, field: Field, id: string): unknown {
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
