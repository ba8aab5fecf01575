// Statements that every request runs are read and planned once on each connection, and only run after that. They begin with
// PREPARED, and are such that no growth of a table makes their plan a bad one: rows put in, or found by key in small tables, or in large ones
// where `byKeys` went before.
import { type RawBuilder, sql } from "kysely";
import type { ClientBase } from "pg";
import type { Transacting } from "./database.ts";

const MARK = "/* prepared */";
const AHEAD_MARK = "/* prepared, ahead */";

/** At the very beginning of a statement whose text is always the same. */
export const PREPARED: RawBuilder<unknown> = sql.raw(MARK);

/**
 * The same, of a statement of a transaction whose answer nobody looks at: it answers at once, leaves with the statement behind it, and takes
 * no trip of its own. What it fails with, whoever comes behind it fails with, the commit at the latest.
 */
export const AHEAD: RawBuilder<unknown> = sql.raw(AHEAD_MARK);

/**
 * Until the transaction ends rows are found by their keys, whatever the planner takes a table's size for: a plan that is kept stays as good while
 * the table grows.
 */
export async function byKeys(tx: Transacting): Promise<void> {
  const off = (name: string) => sql`set_config(${sql.lit(`enable_${name}`)}, 'off', true)`;
  await sql`${AHEAD} select ${off("seqscan")}, ${off("hashjoin")}, ${off("mergejoin")}`.execute(tx);
}

type Run = (text: unknown, values?: unknown, ...more: unknown[]) => unknown;

const names = new Map<string, string>();

/** For each connection of a pool, once it is made. The pool's connections are pipelined. */
export function prepareMarked(client: ClientBase): void {
  const insides = client as unknown as { query: Run };
  const run = insides.query.bind(client);
  /** Of the transaction under way, in their order: what was answered ahead. */
  const owed: Promise<unknown>[] = [];
  insides.query = (text, values, ...more) => {
    if (typeof text !== "string") return run(text, values, ...more);
    // It leaves together with the first statement, and fails only where the connection does; then that one fails too.
    if (text === "begin") return ahead(run(text), "BEGIN");
    if (text === "rollback") owed.length = 0;
    const isAhead = text.startsWith(AHEAD_MARK);
    const sent =
      isAhead || text.startsWith(MARK) ? run({ name: nameOf(text), text, values }) : run(text, values, ...more);
    if (isAhead) {
      owed.push(Promise.resolve(sent));
      return ahead(sent, "SELECT");
    }
    if (owed.length === 0) return sent;
    const answers = Promise.allSettled([...owed, sent]);
    if (text === "commit") owed.length = 0;
    return answers.then(lastOf);
  };
}

function ahead(sent: unknown, command: string): Promise<{ command: string; rowCount: number; rows: [] }> {
  Promise.resolve(sent).catch(() => undefined);
  return Promise.resolve({ command, rowCount: 0, rows: [] });
}

/** The first that failed is why those behind it did, or why the commit undid all. */
function lastOf(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  for (const each of answers) if (each.status === "rejected") throw each.reason;
  const last = answers.at(-1);
  return last?.status === "fulfilled" ? last.value : undefined;
}

/** The same for as long as the process lives. */
export function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `patchbay_${names.size + 1}`;
  names.set(text, name);
  return name;
}
