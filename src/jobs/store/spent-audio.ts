// The audio of ended jobs that has to be deleted: one row for each transaction that ends jobs, written in it, so that audio that a dead process left is found
// [jobs.audio-retention]. Gone with it is an update of each job's row: 134 of some 1,200 µs of PostgreSQL's time per job.
import { type RawBuilder, sql } from "kysely";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { SystemHandle } from "../../storage/database.ts";

export interface SpentAudio {
  readonly id: bigint;
  /** Of the object store. */
  readonly keys: readonly string[];
}

/** A query that returns the record's `id`, for the statement that ends the jobs. */
export function insertSpentAudio(keys: readonly string[]): RawBuilder<unknown> {
  return sql`insert into spent_audio (keys) values (${keys}::text[]) returning id`;
}

export async function deleteSpentAudio(db: SystemHandle, ids: readonly bigint[]): Promise<void> {
  await sql`${PREPARED} delete from spent_audio where id = any(${ids}::bigint[])`.execute(db);
}

/** The process that ended the jobs deletes their audio at once. What is older was left by a dead one, or the store could not delete it. */
const LEFT_AFTER_SECONDS = sql.lit(10);

/** Oldest first, after the record `after`. */
export async function leftSpentAudio(db: SystemHandle, after: bigint, limit: number): Promise<readonly SpentAudio[]> {
  const { rows } = await sql<SpentAudio>`
    select id, keys from spent_audio where id > ${after} and ended_at <= patchbay_now() - ${LEFT_AFTER_SECONDS} * interval '1 second'
    order by id limit ${limit}`.execute(db);
  return rows;
}
