// The version number of connections, routes and prices that a process has read. Triggers increment it.
import { type Kysely, sql } from "kysely";
import { ADVISORY_LOCKS } from "./advisory-locks.ts";
import type { Transacting } from "./database.ts";
import type { Tables } from "./tables.ts";

export async function readDirectoryVersion(db: Pick<Kysely<Tables>, "selectFrom">): Promise<bigint> {
  const state = await db.selectFrom("directory_state").select("version").executeTakeFirst();
  return state?.version ?? 0n;
}

/**
 * One change at a time: what a change was judged by is still so when it is committed, and two of them cannot wait for one
 * another. To be taken before anything else is locked.
 */
export async function lockDirectory(tx: Transacting): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCKS.directory)})`.execute(tx);
}
