// Prepares the statements of the hot path once per pooled connection (docs/decisions/0031-plans-expire.md). Without it a transcription of 1 MiB takes 26 % more
// CPU of the gateway and 51 % more of PostgreSQL (medians of 12 alternating rounds, 32 connections).
import {
  type Compilable,
  type CompiledQuery,
  type PostgresPool,
  type PostgresPoolClient,
  type RawBuilder,
  sql,
} from "kysely";
import type { Pool, PoolClient, QueryResult } from "pg";

const MARK = "/* prepared */";
/** For statements that are not built with Kysely's `sql`. */
export const PREPARED_MARK = MARK;

/** Put this at the very beginning of a statement with constant text. */
export const PREPARED: RawBuilder<unknown> = sql.raw(MARK);

/** For statements that are built with Kysely's methods, and whose text has few variants. */
export function asPrepared<Row>(query: Compilable<Row>): CompiledQuery<Row> {
  const compiled = query.compile();
  return { ...compiled, sql: MARK + compiled.sql };
}

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

/** The pool as Kysely uses it. */
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
  const begin = beginWith === undefined ? "begin" : `begin; ${beginWith}`;
  let plannedAtMs = nowMs();
  const send = async (text: string, values: unknown[]): Promise<QueryResult> => {
    if (text === "begin") return client.query(begin);
    if (!isNamed || !text.startsWith(MARK)) return client.query(text, values);
    if (nowMs() - plannedAtMs >= PLAN_LIFETIME_MS) {
      plannedAtMs = nowMs();
      await client.query("discard plans");
    }
    return client.query({ name: nameOf(text), text, values });
  };
  const query = async (text: string, parameters: readonly unknown[]): Promise<QueryResult> => {
    try {
      return await send(text, [...parameters]);
    } catch (error) {
      onError?.(error);
      throw error;
    }
  };
  return {
    // The other form of Kysely's interface, with a cursor, is for streams, which nothing here reads.
    query: query as unknown as PostgresPoolClient["query"],
    release: (destroy) => client.release(destroy),
  };
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
