// Reads the version number of the stored configuration (connections, routes and prices), which triggers increment, and locks it for changes.
import { sql } from "kysely";
import { ADVISORY_LOCKS } from "./connection/advisory-locks.ts";
import type { SystemHandle, DatabaseTransaction } from "./database.ts";

export async function readDirectoryVersion(db: SystemHandle): Promise<bigint> {
  const state = await db.selectFrom("directory_state").select("version").executeTakeFirst();
  return state?.version ?? 0n;
}

/**
 * Serializes changes of the directory, so that what a change was validated against still holds at its commit, and two changes cannot deadlock.
 * Acquire it before any other lock.
 */
export async function lockDirectory(tx: DatabaseTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCKS.directory)})`.execute(tx);
}
