// Statements that every request runs are read and planned once on each connection, and only run after that. They begin with
// PREPARED, and are such that no growth of a table makes their plan a bad one: rows put in, or found by key in small tables.
import { type RawBuilder, sql } from "kysely";
import type { ClientBase } from "pg";

const MARK = "/* prepared */";

/** At the very beginning of a statement whose text is always the same. */
export const PREPARED: RawBuilder<unknown> = sql.raw(MARK);

type Run = (text: unknown, values?: unknown, ...more: unknown[]) => unknown;

const names = new Map<string, string>();

/** For each connection of a pool, once it is made. */
export function prepareMarked(client: ClientBase): void {
  const insides = client as unknown as { query: Run };
  const run = insides.query.bind(client);
  insides.query = (text, values, ...more) =>
    typeof text === "string" && isMarked(text) ? run({ name: nameOf(text), text, values }) : run(text, values, ...more);
}

export function isMarked(text: string): boolean {
  return text.startsWith(MARK);
}

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `patchbay_${names.size + 1}`;
  names.set(text, name);
  return name;
}
