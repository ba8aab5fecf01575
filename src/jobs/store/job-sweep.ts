// Queries of the job sweep: finds lapsed leases, passed deadlines, audio that is no longer needed, and expired results, and deletes what has expired
// [jobs.dead-worker] [jobs.purge-progress]. Every process sweeps, and skips rows that another process has locked.
import { sql } from "kysely";
import type { SystemHandle, SystemTransaction } from "../../storage/database.ts";
import type { JobRow } from "../../storage/schema/tables.ts";

export const SWEPT_AT_ONCE = 500;
const BATCH = sql.lit(SWEPT_AT_ONCE);
/** Time for a worker to claim a job after its message, before the message is sent again. A worker that dies with the message never claims it. */
const WAKE_AGAIN_SECONDS = sql.lit(5);
/** A queued job's message is sent once. It is sent again after this time, in case it was lost. */
const WAKE_QUEUED_AGAIN_SECONDS = sql.lit(1_800);
const KEEP_ROW_DAYS = 30;

export interface WakenJob {
  readonly id: string;
  readonly appId: string;
}

/** Jobs with a lapsed worker lease, marked as announced. Cheap enough for every other second, because the index holds only running jobs. */
export async function lapsedJobs(tx: SystemTransaction): Promise<readonly WakenJob[]> {
  const { rows } = await sql<WakenJob>`
    update jobs set woken_at = patchbay_now() where ctid in (
      select ctid from jobs where status = 'processing' and lease_until <= patchbay_now()
        and woken_at <= patchbay_now() - ${WAKE_AGAIN_SECONDS} * interval '1 second'
      order by woken_at limit ${BATCH} for update skip locked)
    returning id, app_id as "appId"`.execute(tx);
  return rows;
}

/** Jobs that were queued suspiciously long ago, marked as announced. */
export async function forgottenJobs(tx: SystemTransaction): Promise<readonly WakenJob[]> {
  const { rows } = await sql<WakenJob>`
    update jobs set woken_at = patchbay_now() where ctid in (
      select ctid from jobs where status = 'queued'
        and woken_at <= patchbay_now() - ${WAKE_QUEUED_AGAIN_SECONDS} * interval '1 second'
      limit ${BATCH} for update skip locked)
    returning id, app_id as "appId"`.execute(tx);
  return rows;
}

/** Workers end their jobs at the deadline. A worker that hangs, for example on a disk, keeps renewing its lease [jobs.deadline-hung-worker]. */
const HELD_PAST_DEADLINE_SECONDS = sql.lit(120);

/** Starts, in order to end it, a job past its deadline that no worker claimed or ends. Its row stays locked. */
export async function beginOverdueJob(tx: SystemTransaction): Promise<JobRow | null> {
  const { rows } = await sql<JobRow>`
    update jobs set status = 'processing', attempt = attempt + 1, lease_until = patchbay_now(), started_at = coalesce(started_at, patchbay_now())
    where ctid = (select ctid from jobs where status in ('queued', 'processing') and deadline_at <= patchbay_now()
      and (status = 'queued' or lease_until <= patchbay_now()
        or deadline_at <= patchbay_now() - ${HELD_PAST_DEADLINE_SECONDS} * interval '1 second') limit 1 for update skip locked)
    returning *`.execute(tx);
  return rows[0] ?? null;
}

export interface DueObject {
  /** The job's id. */
  readonly id: string;
  readonly key: string;
}

/** Audio that the rows of ended jobs name: no worker ended these jobs, or one of an earlier version did. Skips the first `skip`, which the object store cannot delete now. */
export async function spentAudio(db: SystemHandle, skip: number): Promise<readonly DueObject[]> {
  const { rows } = await sql<DueObject>`
    select id, audio_key as key from jobs where audio_key is not null and finished_at is not null
    order by finished_at, id offset ${skip} limit ${BATCH}`.execute(db);
  return rows;
}

/** The audio of an ended job was deleted. */
export async function forgetAudio(db: SystemHandle, id: string): Promise<void> {
  await sql`update jobs set audio_key = null where id = ${id} and finished_at is not null and audio_key is not null`.execute(
    db,
  );
}

/** Expired jobs without a result in the object store, at most `SWEPT_AT_ONCE`. */
export async function expiredJobs(db: SystemHandle): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from jobs where purged_at is null and expires_at <= patchbay_now() and result_key is null limit ${BATCH}`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Expired results in the object store. Skips the first `skip`, which the store cannot delete now. */
export async function expiredResults(db: SystemHandle, skip: number): Promise<readonly DueObject[]> {
  const { rows } = await sql<DueObject>`
    select id, result_key as key from jobs where purged_at is null and expires_at <= patchbay_now() and result_key is not null
    order by expires_at, id offset ${skip} limit ${BATCH}`.execute(db);
  return rows;
}

/** Clears the transcript, the source URL, and everything else that was sealed. */
export async function purgeJob(db: SystemHandle, id: string): Promise<void> {
  await sql`update jobs set request = null, result = null, result_key = null, slot_key = null, remote_run = null,
      purged_at = patchbay_now()
    where id = ${id} and expires_at <= patchbay_now()`.execute(db);
}

/** Returns how many were deleted, at most `SWEPT_AT_ONCE`. */
export async function deleteOldJobs(db: SystemHandle): Promise<number> {
  const { numAffectedRows } = await sql`delete from jobs where ctid in (
    select ctid from jobs where finished_at <= patchbay_now() - ${sql.lit(KEEP_ROW_DAYS)} * interval '1 day' and purged_at is not null
    limit ${BATCH} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Returns those of the objects that a job's row references. Keys are `<kind>/<job id>…`. */
export async function namedObjects(db: SystemHandle, keys: readonly string[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const { rows } = await sql<{ key: string }>`
    select asked.key from jsonb_array_elements_text(${JSON.stringify(keys)}::jsonb) as asked (key)
    join jobs on jobs.id = split_part(asked.key, '/', 2) and asked.key in (jobs.audio_key, jobs.result_key)`.execute(
    db,
  );
  return new Set(rows.map((row) => row.key));
}

/** Objects that are still needed: audio of jobs that have not ended, and results that have not expired. */
export async function listNeededObjects(db: SystemHandle): Promise<readonly string[]> {
  const { rows } = await sql<{ key: string }>`
    select audio_key as key from jobs where audio_key is not null and finished_at is null
    union all select result_key from jobs where result_key is not null and purged_at is null and expires_at > patchbay_now()`.execute(
    db,
  );
  return rows.map(({ key }) => key);
}
