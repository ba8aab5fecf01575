// Renders a form field: label, control, hint and error line.
import { element } from "../page/element.ts";
import type { Field } from "./field.ts";

export function fieldView(field: Field, id: string): HTMLElement {
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
  if (field.isRequired !== true) label.append(element("span", { class: "soft" }, " (optional)"));
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
    // With "off", browsers would fill in, and submit, the password stored for this address.
    autocomplete: type === "password" ? "new-password" : "off",
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

/** The format of the browser's control: local time, with all significant digits, so that an unchanged value round-trips. */
function localTime(iso: string): string {
  if (iso === "") return "";
  const time = new Date(iso);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
  return local.replace(/(:00)?\.000$/u, "");
}
