// Prepares the statements of the hot path once per pooled connection, and pipelines them: they are sent without waiting for earlier answers
// (docs/decisions/0031-plans-expire.md).
import { type PostgresPool, type PostgresPoolClient, type RawBuilder, sql } from "kysely";
import type { Pool, PoolClient, QueryConfig, QueryResult } from "pg";

const MARK = "/* prepared */";
const PIPELINED_MARK = "/* prepared, ahead */";

/** Put this at the very beginning of a statement whose text is always the same. */
export const PREPARED: RawBuilder<unknown> = sql.raw(MARK);

/**
 * Like `PREPARED`, for a statement inside a transaction whose result is not used. It resolves at once and is sent with the next statement,
 * without its own round trip. If it fails, a later statement of the transaction fails with its error, the commit at the latest.
 */
export const PIPELINED: RawBuilder<unknown> = sql.raw(PIPELINED_MARK);

/**
 * How long a query plan is kept. Tables grow from nothing to millions of rows, and an old plan would scan the whole table until statistics are
 * next gathered, which may take long. Planning a call's statements again takes 2.6 ms on the embedded server.
 */
export const PLAN_LIFETIME_MS = 10_000;

export interface SessionOptions {
  /** False behind a transaction pooler, where the next transaction may run in a session without the prepared statement. */
  readonly isNamed: boolean;
  /** Settings to send with each `begin`, because sessions of a transaction pooler do not keep them. */
  readonly beginWith?: string;
  readonly nowMs?: (() => number) | undefined;
  /** Called with the error of every failed statement. */
  readonly onError?: (error: unknown) => void;
}

/** The pool as Kysely uses it. Its connections must be pipelined (`pipeline: true`). */
export function preparingPool(pool: Pool, options: SessionOptions): PostgresPool {
  // One per connection, because Kysely recognises a connection by its session.
  const sessions = new WeakMap<PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    connect: async () => {
      const client = await pool.connect();
      const session = sessions.get(client) ?? createSession(client, options);
      sessions.set(client, session);
      return session;
    },
    end: () => pool.end(),
  };
}

function createSession(
  client: PoolClient,
  { isNamed, beginWith, nowMs = () => performance.now(), onError }: SessionOptions,
): PostgresPoolClient {
  const run = (query: string | QueryConfig, values?: unknown[]): Promise<QueryResult> => {
    const answer = client.query(query, values);
    if (onError !== undefined) answer.catch(onError);
    return answer;
  };
  const begin = beginWith === undefined ? "begin" : `begin; ${beginWith}`;
  /** Pipelined statements of the current transaction, in order. */
  const pending: Promise<QueryResult>[] = [];
  let plannedAtMs = nowMs();
  const expirePlans = (): void => {
    if (!isNamed || nowMs() - plannedAtMs < PLAN_LIFETIME_MS) return;
    plannedAtMs = nowMs();
    resolveEarly(run("discard plans"));
  };
  const query = async (text: string, parameters: readonly unknown[]): Promise<QueryResult> => {
    const values = [...parameters];
    // `begin` is sent with the first statement and fails only if the connection does, in which case that statement fails too.
    if (text === "begin") {
      expirePlans();
      return resolveEarly(run(begin));
    }
    if (text === "rollback") pending.length = 0;
    const isPipelined = text.startsWith(PIPELINED_MARK);
    const isMarked = isPipelined || text.startsWith(MARK);
    if (isMarked) expirePlans();
    const answer = isMarked && isNamed ? run({ name: nameOf(text), text, values }) : run(text, values);
    if (isPipelined) {
      pending.push(answer);
      return resolveEarly(answer);
    }
    if (pending.length === 0) return answer;
    const answers = [...pending, answer];
    if (text === "commit") pending.length = 0;
    return lastOrError(answers);
  };
  return {
    // The other form of Kysely's interface, with a cursor, is for streams, which nothing here reads.
    query: query as unknown as PostgresPoolClient["query"],
    release: (destroy) => client.release(destroy),
  };
}
/** The first failure is the cause of the later ones, or of a commit that rolled back. */
async function lastOrError(answers: readonly Promise<QueryResult>[]): Promise<QueryResult> {
  const settled = await Promise.allSettled(answers);
  for (const each of settled) if (each.status === "rejected") throw each.reason;
  return answers.at(-1) ?? NO_RESULT;
}

const NO_RESULT: QueryResult = { command: "", rowCount: 0, oid: 0, rows: [], fields: [] };

/** A failure is reported by a later statement. */
function resolveEarly(answer: Promise<QueryResult>): QueryResult {
  answer.catch(() => undefined);
  return NO_RESULT;
}

const names = new Map<string, string>();

/** Stable for the life of the process. */
export function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `patchbay_${names.size + 1}`;
  names.set(text, name);
  return name;
}
