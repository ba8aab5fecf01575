// Prepares the statements that every request runs once on each pooled connection, and sends them without waiting for each other's
// answer (docs/decisions/0031-plans-expire.md).
import { type RawBuilder, sql } from "kysely";
import type { ClientBase } from "pg";

const MARK = "/* prepared */";
const AHEAD_MARK = "/* prepared, ahead */";

/** At the very beginning of a statement whose text is always the same. */
export const PREPARED: RawBuilder<unknown> = sql.raw(MARK);

/**
 * The same, of a statement of a transaction whose answer nobody looks at: it answers at once, leaves with the statement behind it, and takes
 * no trip of its own. What it fails with, whoever comes behind it fails with, the commit at the latest.
 */
export const PIPELINED: RawBuilder<unknown> = sql.raw(AHEAD_MARK);

/**
 * A plan is kept for so long. Tables grow from nothing to millions of rows, and a kept plan would go on reading the whole table until its
 * statistics are next gathered, which on the embedded engine never happens by itself. Planning a call's statements anew takes 2.6 ms there.
 */
export const PLAN_LIFETIME_MS = 10_000;

export interface Preparing {
  /** False behind a transaction pooler: the next transaction may run on a session that never saw the name. */
  readonly isNamed: boolean;
  /** Run with each `begin`, in the same message: what no session keeps for its transactions. */
  readonly beginWith?: string;
  readonly nowMs?: (() => number) | undefined;
}

type Run = (text: unknown, values?: unknown, ...more: unknown[]) => unknown;

const names = new Map<string, string>();

/** For each connection of a pool, once it is made. The pool's connections are pipelined. */
export function prepareMarked(
  client: ClientBase,
  { isNamed, beginWith, nowMs = () => performance.now() }: Preparing,
): void {
  const insides = client as unknown as { query: Run };
  const run = insides.query.bind(client);
  const begin = beginWith === undefined ? "begin" : `begin; ${beginWith}`;
  /** Of the transaction under way, in their order: what was answered ahead. */
  const owed: Promise<unknown>[] = [];
  let plannedAtMs = nowMs();
  const expirePlans = (): void => {
    if (!isNamed || nowMs() - plannedAtMs < PLAN_LIFETIME_MS) return;
    plannedAtMs = nowMs();
    void ahead(run("discard plans"), "DISCARD");
  };
  insides.query = (text, values, ...more) => {
    if (typeof text !== "string") return run(text, values, ...more);
    // It leaves together with the first statement, and fails only where the connection does; then that one fails too.
    if (text === "begin") {
      expirePlans();
      return ahead(run(begin), "BEGIN");
    }
    if (text === "rollback") owed.length = 0;
    const isAhead = text.startsWith(AHEAD_MARK);
    const isMarked = isAhead || text.startsWith(MARK);
    if (isMarked) expirePlans();
    const sent = isMarked && isNamed ? run({ name: nameOf(text), text, values }) : run(text, values, ...more);
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
