// Removes purged rows from the database's files as well [jobs.result-retention]: PostgreSQL keeps overwritten rows until they are vacuumed.
import { sql } from "kysely";
import type { Database } from "./database.ts";
import { sweeps } from "./system.ts";

/** Sealed results, requests and answers are kept here and nowhere else. */
const TABLES = sql.raw("jobs, idempotency_slots");
export async function vacuumPurged(database: Pick<Database, "db">): Promise<void> {
  const { db } = sweeps(database);
  // Autovacuum waits until a fifth of a table is dead. A role that does not own the tables is only warned.
  await sql`vacuum (skip_locked) ${TABLES}`.execute(db);
}
