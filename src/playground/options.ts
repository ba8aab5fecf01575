// What was chosen in the form: entries, as a form has them; the page's query, which a link shares; the fields of the API. Pure.
export interface OptionField {
  readonly name: string;
  readonly kind: "text" | "boolean" | "number" | "list";
  /** What stands there unless the query says otherwise. */
  readonly preset: string;
}
/** In the order of the fields; a list repeats its name. None is empty. */
export type Entries = readonly (readonly [name: string, value: string])[];

/** The purpose of a comparison's other side, as a link shares it; empty: none is named. */
const COMPARE = "compare";

/** What differs from the presets; one that was taken away stands there empty. `compared`: null where nothing is compared. */
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

/** Whatever else stands in the query is left alone. */
export function entriesOf(query: string, fields: readonly OptionField[]): Entries {
  const given = new URLSearchParams(query);
  return fields.flatMap(({ name, preset }) =>
    (given.has(name) ? given.getAll(name) : [preset])
      .filter((value) => value !== "")
      .map((value) => [name, value] as const),
  );
}

/** As JSON has them. */
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

/** A language to translate into is asked of another endpoint. */
export function taskOf(entries: Entries): "transcription" | "translation" {
  return entries.some(([name]) => name === "to_language") ? "translation" : "transcription";
}
