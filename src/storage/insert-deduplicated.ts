// Inserts rows that share most of their columns, such as one app's requests. Shared values are sent once as JSON, and each row's own values in
// arrays, because parsing rows of JSON takes the server more than half of the cost of storing them.
import { type RawBuilder, sql } from "kysely";
import { isSameData } from "../lib/json/is-same-data.ts";

export interface SharingRow {
  /** The columns that it shares with other rows, as a JSON object. */
  readonly shared: string;
}

type Value = string | number | bigint | null;

/** How many different shared texts are cached. */
const MAX_TEXTS = 500;

/**
 * Serializes shared columns, so that thousands of waiting rows reference one text. Most rows equal the one before: comparing costs a third of
 * serializing and hashing the text.
 */
export function createWording(): (shared: object) => string {
  const texts = new Map<string, string>();
  let latest: { readonly shared: object; readonly text: string } | null = null;
  return (shared) => {
    if (latest !== null && isSameData(latest.shared, shared)) return latest.text;
    const json = JSON.stringify(shared);
    const text = texts.get(json) ?? json;
    if (texts.size >= MAX_TEXTS) texts.clear();
    texts.set(text, text);
    latest = { shared, text };
    return text;
  };
}

/**
 * A `from` clause with all columns. `own` maps names to types and values of each row's own columns, `shared` maps names to types of the columns
 * in the JSON.
 */
export function insertDeduplicated<Row extends SharingRow>(
  rows: readonly Row[],
  own: Readonly<Record<string, readonly [type: string, valueOf: (row: Row) => Value]>>,
  shared: Readonly<Record<string, string>>,
): RawBuilder<unknown> {
  const numbers = new Map<string, number>();
  const numberOf = (row: Row): number => {
    const number = numbers.get(row.shared) ?? numbers.size + 1;
    numbers.set(row.shared, number);
    return number;
  };
  const arrays = [sql`${arrayOf(rows, numberOf)}::bigint[]`];
  for (const [type, valueOf] of Object.values(own)) arrays.push(sql`${arrayOf(rows, valueOf)}::${sql.raw(type)}[]`);
  const columnTypes = Object.entries(shared).map(([name, type]) => `${name} ${type}`);
  return sql`unnest(${sql.join(arrays)}) as own (number, ${sql.raw(Object.keys(own).join(", "))})
    join rows from (jsonb_to_recordset(${`[${[...numbers.keys()].join(",")}]`}::jsonb) as (${sql.raw(columnTypes.join(", "))}))
      with ordinality as shared (${sql.raw(Object.keys(shared).join(", "))}, number) using (number)`;
}

/** All column names, except `but`, which is used only in computations. */
export function columnsBut(but: string, ...columns: readonly Readonly<Record<string, unknown>>[]): RawBuilder<unknown> {
  return sql.raw(columns.flatMap((each) => Object.keys(each).filter((name) => name !== but)).join(", "));
}

/** Converts a column in milliseconds of this process's clock, which now shows `nowMs`, to the database's clock. */
export function coarseTimestamp(nowMs: number, column: string): RawBuilder<unknown> {
  return sql`patchbay_now() - greatest(0, ${nowMs}::float8 - ${sql.raw(column)}) * interval '1 millisecond'`;
}

/** A PostgreSQL array literal. Text is quoted, because it could be NULL or contain a comma. */
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
