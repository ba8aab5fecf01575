// Rows that have most in common, as those of one app's requests do: what several share is sent once, as JSON, and each brings only what is
// its own, in arrays. Of a row that is all JSON, reading it takes the server more than half of what keeping it costs.
import { type RawBuilder, sql } from "kysely";
import { isSameData } from "../lib/json/is-same-data.ts";

export interface SharingRow {
  /** What it has in common with others, as a JSON object. */
  readonly shared: string;
}

type Value = string | number | bigint | null;

/** What rows of so many kinds share is remembered at a time. */
const MAX_TEXTS = 500;

/**
 * Words what rows share; thousands that wait and say the same hold one text. Most say what the one before said, and to see that costs a third
 * of wording it and hashing the text.
 */
export function createWording(): (shared: object) => string {
  const texts = new Map<string, string>();
  let latest: { readonly shared: object; readonly text: string } | null = null;
  return (shared) => {
    if (latest !== null && isSameData(latest.shared, shared)) return latest.text;
    const worded = JSON.stringify(shared);
    const text = texts.get(worded) ?? worded;
    if (texts.size >= MAX_TEXTS) texts.clear();
    texts.set(text, text);
    latest = { shared, text };
    return text;
  };
}

/**
 * A `from` of all the columns, own and shared: `own` are names and types with their values, `shared` the names and types of what stands
 * in the JSON.
 */
export function insertDeduplicated<Row extends SharingRow>(
  rows: readonly Row[],
  own: Readonly<Record<string, readonly [type: string, valueOf: (row: Row) => Value]>>,
  shared: Readonly<Record<string, string>>,
): RawBuilder<unknown> {
  const numbers = new Map<string, number>();
  const numberOf = (row: Row): number => {
    const known = numbers.get(row.shared) ?? numbers.size + 1;
    numbers.set(row.shared, known);
    return known;
  };
  const arrays = [sql`${arrayOf(rows, numberOf)}::bigint[]`];
  for (const [type, valueOf] of Object.values(own)) arrays.push(sql`${arrayOf(rows, valueOf)}::${sql.raw(type)}[]`);
  const typed = Object.entries(shared).map(([name, type]) => `${name} ${type}`);
  return sql`unnest(${sql.join(arrays)}) as own (number, ${sql.raw(Object.keys(own).join(", "))})
    join rows from (jsonb_to_recordset(${`[${[...numbers.keys()].join(",")}]`}::jsonb) as (${sql.raw(typed.join(", "))}))
      with ordinality as shared (${sql.raw(Object.keys(shared).join(", "))}, number) using (number)`;
}

/** All of them, own and shared, `but` one that is only reckoned with. */
export function columnsBut(but: string, ...columns: readonly Readonly<Record<string, unknown>>[]): RawBuilder<unknown> {
  return sql.raw(columns.flatMap((each) => Object.keys(each).filter((name) => name !== but)).join(", "));
}

/** When it was, of a column in milliseconds by the clock that says `nowMs`: clocks of machines differ, and the database's is kept. */
export function timedBy(nowMs: number, column: string): RawBuilder<unknown> {
  return sql`patchbay_now() - greatest(0, ${nowMs}::float8 - ${sql.raw(column)}) * interval '1 millisecond'`;
}

/** As the server reads an array: text in quotes, or it might be NULL or a comma. */
function arrayOf<Row>(rows: readonly Row[], valueOf: (row: Row) => Value): string {
  let text = "";
  for (const row of rows) text += text === "" ? elementOf(valueOf(row)) : `,${elementOf(valueOf(row))}`;
  return `{${text}}`;
}

function elementOf(value: Value): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  const isPlain = !value.includes('"') && !value.includes("\\");
  return `"${isPlain ? value : value.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}
