// Reads the version number of connections, routes and prices, which triggers increment, and locks them for changes.
import { type Kysely, sql } from "kysely";
import { ADVISORY_LOCKS } from "./connection/advisory-locks.ts";
import type { Transacting } from "./database.ts";
import type { Tables } from "./schema/tables.ts";

export async function readDirectoryVersion(db: Pick<Kysely<Tables>, "selectFrom">): Promise<bigint> {
  const state = await db.selectFrom("directory_state").select("version").executeTakeFirst();
  return state?.version ?? 0n;
}

/**
 * Serializes changes of the directory, so that what a change was validated against still holds at its commit, and two changes cannot deadlock.
 * Acquire it before any other lock.
 */
export async function lockDirectory(tx: Transacting): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCKS.directory)})`.execute(tx);
}
