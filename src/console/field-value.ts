// Converts a form field to its value in the body of a call.
import type { Field } from "./field.ts";

/** Undefined: empty. An Error: invalid. */
export function valueOf(form: HTMLFormElement, field: Field, id: string): unknown {
  if (field.kind === "custom") return field.value();
  if (field.kind === "checks")
    return [...form.querySelectorAll<HTMLInputElement>(`#${id} input:checked`)].map(({ value }) => value);
  const control = form.querySelector<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(`#${id}`);
  if (control instanceof HTMLInputElement && field.kind === "check") return control.checked;
  // An incomplete date reads as empty, and empty may mean "for ever".
  if (control instanceof HTMLInputElement && control.validity.badInput)
    return new Error("Enter both a date and a time, or leave it empty.");
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
    return new Error(`Invalid JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

export function put(body: Record<string, unknown>, [name = "", ...below]: readonly string[], value: unknown): void {
  if (below.length === 0) body[name] = value;
  else put((body[name] ??= {}) as Record<string, unknown>, below, value);
}
