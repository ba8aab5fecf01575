// Prepares the statements of the hot path once per pooled connection, and pipelines them: they are sent without waiting for earlier answers
// (docs/decisions/0031-plans-expire.md).
import { type RawBuilder, sql } from "kysely";
import type { ClientBase } from "pg";

const MARK = "/* prepared */";
const PIPELINED_MARK = "/* prepared, ahead */";

/** Put this at the very beginning of a statement with constant text. */
export const PREPARED: RawBuilder<unknown> = sql.raw(MARK);

/**
 * Like `PREPARED`, for a statement inside a transaction with an unused result. It resolves at once and is sent with the next statement,
 * without its own round trip. If it fails, a later statement of the transaction fails with its error, the commit at the latest.
 */
export const PIPELINED: RawBuilder<unknown> = sql.raw(PIPELINED_MARK);

/**
 * How long a query plan is kept. Tables grow from nothing to millions of rows, and an old plan would scan the whole table until statistics are
 * next gathered, which may take long. Planning a call's statements again takes 2.6 ms on the embedded server.
 */
export const PLAN_LIFETIME_MS = 10_000;

export interface Preparing {
  /** False behind a transaction pooler, where the next transaction may run in a session without the prepared statement. */
  readonly isNamed: boolean;
  /** Settings to send with each `begin`, because sessions of a transaction pooler do not keep them. */
  readonly beginWith?: string;
  readonly nowMs?: (() => number) | undefined;
}

type Run = (text: unknown, values?: unknown, ...more: unknown[]) => unknown;

const names = new Map<string, string>();

/** Call it for each new connection of a pool. The pool's connections must be pipelined. */
export function prepareMarked(
  client: ClientBase,
  { isNamed, beginWith, nowMs = () => performance.now() }: Preparing,
): void {
  const internals = client as unknown as { query: Run };
  const run = internals.query.bind(client);
  const begin = beginWith === undefined ? "begin" : `begin; ${beginWith}`;
  /** Pipelined statements of the current transaction, in order. */
  const pending: Promise<unknown>[] = [];
  let plannedAtMs = nowMs();
  const expirePlans = (): void => {
    if (!isNamed || nowMs() - plannedAtMs < PLAN_LIFETIME_MS) return;
    plannedAtMs = nowMs();
    void resolveEarly(run("discard plans"), "DISCARD");
  };
  internals.query = (text, values, ...more) => {
    if (typeof text !== "string") return run(text, values, ...more);
    // `begin` is sent with the first statement and fails only if the connection does, in which case that statement fails too.
    if (text === "begin") {
      expirePlans();
      return resolveEarly(run(begin), "BEGIN");
    }
    if (text === "rollback") pending.length = 0;
    const isPipelined = text.startsWith(PIPELINED_MARK);
    const isMarked = isPipelined || text.startsWith(MARK);
    if (isMarked) expirePlans();
    const answer = isMarked && isNamed ? run({ name: nameOf(text), text, values }) : run(text, values, ...more);
    if (isPipelined) {
      pending.push(Promise.resolve(answer));
      return resolveEarly(answer, "SELECT");
    }
    if (pending.length === 0) return answer;
    const answers = Promise.allSettled([...pending, answer]);
    if (text === "commit") pending.length = 0;
    return answers.then(lastOrError);
  };
}

function resolveEarly(answer: unknown, command: string): Promise<{ command: string; rowCount: number; rows: [] }> {
  Promise.resolve(answer).catch(() => undefined);
  return Promise.resolve({ command, rowCount: 0, rows: [] });
}

/** The first failure is the cause of the later ones, or of a commit that rolled back. */
function lastOrError(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  for (const each of answers) if (each.status === "rejected") throw each.reason;
  const last = answers.at(-1);
  return last?.status === "fulfilled" ? last.value : undefined;
}

/** Stable for the life of the process. */
export function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `patchbay_${names.size + 1}`;
  names.set(text, name);
  return name;
}
