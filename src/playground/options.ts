// Converts the options of the form to the query of a shareable link and to the fields of the API. Pure.
export interface OptionField {
  readonly name: string;
  readonly kind: "text" | "boolean" | "number" | "list";
  /** Value unless the query sets it. */
  readonly preset: string;
}
/** In the order of the fields; a list repeats its name. No value is empty. */
export type Entries = readonly (readonly [name: string, value: string])[];

/** Query parameter for the other side's purpose. Empty: no purpose. */
const COMPARE = "compare";

/** Values that differ from the presets; a removed preset is an empty value. `compared`: null if nothing is compared. */
export function queryOf(entries: Entries, fields: readonly OptionField[], compared: string | null = null): string {
  const query = new URLSearchParams();
  for (const { name, preset } of fields) {
    const values = entries.filter(([each]) => each === name).map(([, value]) => value);
    if (preset !== "" && values.length === 0) query.append(name, "");
    if (values.join("\n") !== preset) for (const value of values) query.append(name, value);
  }
  if (compared !== null) query.append(COMPARE, compared);
  return query.toString();
}

export const comparedIn = (query: string): string | null => new URLSearchParams(query).get(COMPARE);

/** Other query parameters are ignored. */
export function entriesOf(query: string, fields: readonly OptionField[]): Entries {
  const params = new URLSearchParams(query);
  return fields.flatMap(({ name, preset }) =>
    (params.has(name) ? params.getAll(name) : [preset])
      .filter((value) => value !== "")
      .map((value) => [name, value] as const),
  );
}

/** As JSON values. */
export function fieldsOf(entries: Entries, fields: readonly OptionField[]): Readonly<Record<string, unknown>> {
  const typed: Record<string, unknown> = {};
  for (const { name, kind } of fields) {
    const values = entries.filter(([each]) => each === name).map(([, value]) => value);
    const [first] = values;
    if (first === undefined) continue;
    if (kind === "list") typed[name] = values;
    else if (kind === "boolean") typed[name] = first === "true";
    else typed[name] = kind === "number" ? Number(first) : first;
  }
  return typed;
}

/** A target language selects another endpoint. */
export function taskOf(entries: Entries): "transcription" | "translation" {
  return entries.some(([name]) => name === "to_language") ? "translation" : "transcription";
}
