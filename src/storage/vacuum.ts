// Vacuums tables after a purge, because PostgreSQL keeps deleted and overwritten rows in its files until then [jobs.result-retention].
import { sql } from "kysely";
import type { Database, systemAccess } from "./database.ts";
import { bypassRls } from "./system.ts";

/** The tables with sealed results, requests and answers. */
const TABLES = sql.raw("jobs, idempotency_slots");
export async function vacuumPurged(database: Pick<Database, typeof systemAccess>): Promise<void> {
  const { db } = bypassRls(database, "sweep");
  // Autovacuum would wait until a fifth of a table is dead. A role that does not own the tables gets only a warning.
  await sql`vacuum (skip_locked) ${TABLES}`.execute(db);
}
