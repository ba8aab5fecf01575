// Which encryption keys the running processes know, and which one each seals with [tenancy.rotate-needed]: recorded by locks that a process's
// listening connection holds, because they end with it. What one process seals all others must be able to open.
import { type Kysely, sql } from "kysely";
import type { Client } from "pg";
import { ADVISORY_LOCKS } from "./advisory-locks.ts";
import type { Tables } from "./tables.ts";

const KNOWN = ADVISORY_LOCKS.knownKey;
const FIRST = ADVISORY_LOCKS.firstKey;

/**
 * Linux would have the server hold a connection for hours whose machine vanished, or that a firewall forgot and the process made anew:
 * until then its locks refuse a start because of keys that nobody goes by any more.
 */
const GIVE_UP_IN_A_MINUTE = `set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3;
  set tcp_user_timeout = 60000`;

/** For as long as this connection lives. `keyIds`: as a ring has them, the first of which seals. */
export async function announceKeys(client: Pick<Client, "query">, keyIds: readonly string[]): Promise<void> {
  await client.query(GIVE_UP_IN_A_MINUTE);
  const locks = [...keyIds.map((id) => [KNOWN, id] as const), ...keyIds.slice(0, 1).map((id) => [FIRST, id] as const)];
  for (const [lock, id] of locks)
    await client.query("select pg_advisory_lock_shared($1, ('x' || $2)::bit(32)::int)", [lock, id]);
}

export interface RunningKeys {
  readonly known: readonly string[];
  readonly first: string;
}

/** The keys of each process that is connected to this database. */
export async function readRunningKeys(db: Pick<Kysely<Tables>, "selectFrom">): Promise<readonly RunningKeys[]> {
  const locks = sql<{ pid: number; lock: number; key: string }>`(
    select pid, classid::bigint::int as lock, lpad(to_hex(objid::bigint), 8, '0') as key from pg_locks
    where locktype = 'advisory' and objsubid = 2 and granted and classid::bigint in (${sql.lit(KNOWN)}, ${sql.lit(FIRST)})
      and database = (select oid from pg_database where datname = current_database()))`;
  const rows = await db.selectFrom(locks.as("locks")).select(["pid", "lock", "key"]).execute();
  const keysOf = (pid: number, lock: number) =>
    rows.filter((row) => row.pid === pid && row.lock === lock).map(({ key }) => key);
  return [...new Set(rows.map(({ pid }) => pid))].flatMap((pid) =>
    keysOf(pid, FIRST).map((first) => ({ first, known: keysOf(pid, KNOWN) })),
  );
}
