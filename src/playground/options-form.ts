// The options form: its fields, the current choice, and how a link fills it.
import type { Entries, OptionField } from "./options.ts";

/** In page order; a list of checkboxes has several fields of one name. */
export function fieldsIn(form: HTMLFormElement): readonly OptionField[] {
  const known = new Map<string, OptionField>();
  for (const { name, dataset } of controlsOf(form))
    known.set(name, {
      name,
      kind: (dataset["kind"] ?? "text") as OptionField["kind"],
      preset: dataset["preset"] ?? "",
    });
  return [...known.values()];
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function controlsOf(form: HTMLFormElement): NodeListOf<Control> {
  return form.querySelectorAll<Control>("input, select, textarea");
}

export function fill(form: HTMLFormElement, entries: Entries): void {
  for (const control of controlsOf(form)) {
    const values = entries.filter(([name]) => name === control.name).map(([, value]) => value);
    if (control instanceof HTMLInputElement && control.type === "checkbox")
      control.checked = values.includes(control.value);
    else control.value = values.join("\n");
  }
  const more = form.querySelector("details");
  if (more !== null) more.open = entries.some(([name]) => more.querySelector(`[name="${name}"]`) !== null);
}

export function chosenIn(form: HTMLFormElement): Entries {
  return [...controlsOf(form)].flatMap((control) => {
    if (control instanceof HTMLInputElement && control.type === "checkbox" && !control.checked) return [];
    const values = control.dataset["kind"] === "list" ? control.value.split("\n") : [control.value];
    return values.flatMap((value) => (value.trim() === "" ? [] : [[control.name, value.trim()] as const]));
  });
}
