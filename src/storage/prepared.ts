// Statements that every request runs are read and planned once on each connection, and only run after that. They begin with
// PREPARED, and are such that no growth of a table makes their plan a bad one: rows put in, or found by key in small tables, or in large ones
// where `byKeys` went before.
import { type RawBuilder, sql } from "kysely";
import type { ClientBase } from "pg";
import type { Transacting } from "./database.ts";

const MARK = "/* prepared */";
const FIRST_MARK = "/* prepared, first */";
const LAST_MARK = "/* prepared, last */";

/** At the very beginning of a statement whose text is always the same. */
export const PREPARED: RawBuilder<unknown> = sql.raw(MARK);

/**
 * The same, of a transaction's last statement whose answer nobody looks at: on a server it answers at once, and the commit that leaves with
 * it answers for both. What it fails with, the commit fails with.
 */
export const LAST: RawBuilder<unknown> = sql.raw(LAST_MARK);

const FIRST = sql.raw(FIRST_MARK);

/**
 * Until the transaction ends rows are found by their keys, whatever the planner takes a table's size for: a plan that is kept stays as good while
 * the table grows. It leaves with the statement behind it, and takes no trip of its own.
 */
export async function byKeys(tx: Transacting): Promise<void> {
  const off = (name: string) => sql`set_config(${sql.lit(`enable_${name}`)}, 'off', true)`;
  await sql`${FIRST} select ${off("seqscan")}, ${off("hashjoin")}, ${off("mergejoin")}`.execute(tx);
}

type Run = (text: unknown, values?: unknown, ...more: unknown[]) => unknown;

const names = new Map<string, string>();

/** For each connection of a pool, once it is made. The pool's connections are pipelined. */
export function prepareMarked(client: ClientBase): void {
  const insides = client as unknown as { query: Run };
  const run = insides.query.bind(client);
  let last: Promise<unknown> | null = null;
  insides.query = (text, values, ...more) => {
    if (typeof text !== "string") return run(text, values, ...more);
    // The first statement leaves together with the beginning, which fails only where the connection does; then that one fails too.
    if (text === "begin") {
      last = null;
      return ahead(run(text), "BEGIN");
    }
    if (text === "commit" && last !== null) {
      const answers = Promise.allSettled([last, run(text)]);
      last = null;
      return answers.then(afterBoth);
    }
    if (!isMarked(text)) return run(text, values, ...more);
    const sent = run({ name: nameOf(text), text, values });
    // What follows it fails where it does.
    if (text.startsWith(FIRST_MARK)) return ahead(sent, "SELECT");
    if (!text.startsWith(LAST_MARK)) return sent;
    last = Promise.resolve(sent);
    return ahead(sent, "SELECT");
  };
}

function ahead(sent: unknown, command: string): Promise<{ command: string; rowCount: number; rows: [] }> {
  Promise.resolve(sent).catch(() => undefined);
  return Promise.resolve({ command, rowCount: 0, rows: [] });
}

/** A statement that failed is why the commit undid all. */
function afterBoth([last, committed]: readonly PromiseSettledResult<unknown>[]): unknown {
  for (const each of [last, committed]) if (each?.status === "rejected") throw each.reason;
  return committed?.status === "fulfilled" ? committed.value : undefined;
}

function isMarked(text: string): boolean {
  return [MARK, FIRST_MARK, LAST_MARK].some((mark) => text.startsWith(mark));
}

/** The same for as long as the process lives. */
export function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `patchbay_${names.size + 1}`;
  names.set(text, name);
  return name;
}
