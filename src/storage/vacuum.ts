// What was purged leaves the database's files as well (contract 5): PostgreSQL keeps overwritten rows until they are vacuumed.
// A server's own log of changes and its backups are the operator's; the embedded engine's log is ours.
import { sql } from "kysely";
import type { Database } from "./database.ts";
import { sweeps } from "./system.ts";

/** Sealed results, requests and answers are kept here and nowhere else. */
const TABLES = sql.raw("jobs, idempotency_slots");
/** Written anew in about 0.3 s on the embedded engine; measured: 300,000 rows of 300 bytes, 100 MB, in 1.4 s. */
const SMALL_BYTES = 16 * 1024 * 1024;

export async function vacuumPurged(database: Pick<Database, "db" | "engine">): Promise<void> {
  const { db, engine } = sweeps(database);
  if (engine === "postgres") {
    // Autovacuum waits until a fifth of a table is dead. A role that does not own the tables is only warned.
    await sql`vacuum (skip_locked) ${TABLES}`.execute(db);
    return;
  }
  // Nothing else does it there: the embedded engine has no autovacuum.
  await sql`vacuum`.execute(db);
  // A vacuum leaves bytes in the gaps of pages; writing the tables anew leaves none, where that is quick.
  const { rows } = await sql<{ size: bigint }>`
    select pg_total_relation_size('jobs') + pg_total_relation_size('idempotency_slots') as size`.execute(db);
  if ((rows[0]?.size ?? 0n) <= SMALL_BYTES) await sql`vacuum (full) ${TABLES}`.execute(db);
  await sql`select pg_switch_wal()`.execute(db);
  await sql`checkpoint`.execute(db);
}
