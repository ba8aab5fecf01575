// Records which encryption keys the running processes know, and which one each seals with, because every process must be able to open what
// another seals [tenancy.rotate-needed]. Advisory locks of a process's listening connection record them, so they end with the process.
import { type Kysely, sql } from "kysely";
import type { Client } from "pg";
import { ADVISORY_LOCKS } from "../connection/advisory-locks.ts";
import type { Tables } from "../schema/tables.ts";

const KNOWN = ADVISORY_LOCKS.knownKey;
const FIRST = ADVISORY_LOCKS.firstKey;

/**
 * By default Linux keeps a connection for hours after its machine vanished or a firewall dropped it. Until then its locks would refuse starts
 * because of keys that are no longer in use.
 */
const KEEPALIVE_SETTINGS = `set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3;
  set tcp_user_timeout = 60000`;

/** Lasts as long as this connection. `keyIds` are in the ring's order: its first key seals. */
export async function announceKeys(client: Pick<Client, "query">, keyIds: readonly string[]): Promise<void> {
  await client.query(KEEPALIVE_SETTINGS);
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
