// Claims a job for a worker and writes its progress. A claim increments the attempt number, a fencing token that every later write checks together with
// `processing` [jobs.fenced-writes]: if no row changes, another worker has the job.
import { sql } from "kysely";
import { publishing } from "../../queue/topics.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { SystemHandle, SystemTransaction, DatabaseTransaction } from "../../storage/database.ts";
import type { JobRow } from "../../storage/schema/tables.ts";
import { progressTopicOf } from "../topics.ts";
import { JOB_COLUMNS } from "./job-columns.ts";

/** The job and attempt that a write belongs to. */
export interface Fence {
  readonly id: string;
  readonly attempt: number;
}

export const JOB_LEASE_SECONDS = 30;
const lease = sql`patchbay_now() + ${sql.lit(JOB_LEASE_SECONDS)} * interval '1 second'`;

/** What a claim changes. A job whose audio is stored enters the stage in which it is called, so that its worker need not write that. */
export const CLAIMED = sql`status = 'processing', attempt = attempt + 1, lease_until = ${lease}, started_at = coalesce(started_at, patchbay_now()),
      stage = case when audio_key is null then stage else 'transcribing' end, fraction = case when audio_key is null then fraction end`;

/** Claims those of the jobs that are queued or whose lease has lapsed, locked in id order. */
export async function claimJobs(db: SystemHandle, ids: readonly string[]): Promise<readonly JobRow[]> {
  const { rows } = await sql<JobRow>`${PREPARED}
    with free as materialized (select id from jobs
      where id = any(${ids}::text[]) and (status = 'queued' or (status = 'processing' and lease_until <= patchbay_now()))
      order by id for update)
    update jobs set ${CLAIMED}
    where id = any(array(select id from free))
    returning ${JOB_COLUMNS}, ${publishing(progressTopicOf(sql.ref("id")))}`.execute(db);
  return rows;
}

/** Null: the job has ended, or another worker has it. */
export async function claimJob(db: SystemHandle, id: string): Promise<JobRow | null> {
  const [row] = await claimJobs(db, [id]);
  return row ?? null;
}

/** The lease of a released job: it has lapsed, and a renewal in progress cannot extend it. */
const releasedLease = sql`'epoch'::timestamptz`;

/** Returns the fences that still hold. A row that is locked at this moment is renewed in the next round. */
export async function renewJobLeases(db: SystemHandle, fences: readonly Fence[]): Promise<readonly Fence[]> {
  if (fences.length === 0) return [];
  const list = sql`jsonb_to_recordset(${JSON.stringify(fences)}::jsonb) as held (id text, attempt int)`;
  const isHeld = sql`jobs.id = held.id and jobs.attempt = held.attempt and jobs.status = 'processing' and jobs.lease_until > ${releasedLease}`;
  await sql`update jobs set lease_until = ${lease} where ctid in (
    select jobs.ctid from jobs join ${list} on ${isHeld} for update of jobs skip locked)`.execute(db);
  const { rows } = await sql<Fence>`select jobs.id, jobs.attempt from jobs join ${list} on ${isHeld}`.execute(db);
  return rows;
}

export interface Progress {
  readonly stage: JobRow["stage"];
  readonly fraction: number | null;
}

/** Null: another worker has the job. `candidates` are stored in the request's record when they were just evaluated. */
export async function writeProgress(
  db: SystemHandle,
  { id, attempt }: Fence,
  { stage, fraction }: Progress,
  candidates?: unknown,
): Promise<{ readonly cancelRequested: boolean } | null> {
  const { rows } = await sql<{ cancelRequested: boolean }>`
    update jobs set stage = ${stage}, fraction = ${fraction}::real,
      candidates = coalesce(${candidates === undefined ? null : JSON.stringify(candidates)}::jsonb, candidates)
    where id = ${id} and attempt = ${attempt} and status = 'processing'
    returning cancel_requested as "cancelRequested"`.execute(db);
  return rows[0] ?? null;
}

/** Stores the properties and the object key of a fetched URL. */
export async function writeAudio(
  db: SystemHandle,
  { id, attempt }: Fence,
  audio: unknown,
  audioKey: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`update jobs set audio = ${JSON.stringify(audio)}::jsonb, audio_key = ${audioKey}
    where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(db);
  return numAffectedRows === 1n;
}

export interface JobCall {
  readonly attemptId: string;
  readonly position: number;
  readonly state: NonNullable<JobRow["call_state"]>;
}

/** Stores the job's call to a provider; null: none. False: another worker has the job, or a cancellation came first. */
export async function writeCall(
  tx: SystemHandle,
  { id, attempt }: Fence,
  call: JobCall | null,
  remoteRun: unknown = null,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update jobs set call_attempt_id = ${call?.attemptId ?? null}, call_position = ${call?.position ?? null}::int,
      call_state = ${call?.state ?? null}, remote_run = ${remoteRun === null ? null : JSON.stringify(remoteRun)}::jsonb
    where id = ${id} and attempt = ${attempt} and status = 'processing' and (not cancel_requested or ${call?.state !== "submitting"})`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

/** A call that is about to be made. */
export interface Announcement {
  readonly fence: Fence;
  readonly call: Omit<JobCall, "state">;
  /** The targets as they were just evaluated, for the request's record. Null: stored already. */
  readonly candidates: unknown;
}

/**
 * Commits that the calls are made. Returns the jobs' ids. A missing one was cancelled before, or another worker has it. Locks the jobs in id order, as claims
 * do: a process whose leases have lapsed may announce the jobs that another one claims.
 */
export async function announceCalls(
  db: SystemHandle,
  announcements: readonly Announcement[],
): Promise<ReadonlySet<string>> {
  const list = announcements.map(({ fence: { id, attempt }, call: { attemptId, position }, candidates }) => ({
    id,
    attempt,
    call_attempt_id: attemptId,
    call_position: position,
    candidates,
  }));
  const { rows } = await sql<{ id: string }>`${PREPARED}
    with given as materialized (select * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as given (id text, attempt int,
      call_attempt_id text, call_position int, candidates jsonb)),
      held as materialized (select jobs.id from jobs join given on jobs.id = given.id and jobs.attempt = given.attempt
        where jobs.id = any(array(select id from given)) and jobs.status = 'processing' and not jobs.cancel_requested
        order by jobs.id for update of jobs)
    update jobs set call_attempt_id = given.call_attempt_id, call_position = given.call_position, call_state = 'submitting', remote_run = null,
      candidates = coalesce(given.candidates, jobs.candidates)
    from given where jobs.id = any(array(select id from held)) and jobs.id = given.id and jobs.attempt = given.attempt
    returning jobs.id`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** False, too: another worker has the job. */
export async function isCancelRequested(db: SystemHandle, { id, attempt }: Fence): Promise<boolean> {
  const row = await db
    .selectFrom("jobs")
    .select(["cancel_requested"])
    .where("id", "=", id)
    .where("attempt", "=", attempt)
    .where("status", "=", "processing")
    .executeTakeFirst();
  return row?.cancel_requested === true;
}

/** The announced call was certainly not made, so its reservation is kept for the next call. Null: another worker has the job. */
export async function withdrawCall(db: SystemHandle, { id, attempt }: Fence): Promise<JobRow | null> {
  const { rows } = await sql<JobRow>`
    update jobs set call_state = case call_state when 'submitting' then 'reserved' else call_state end
    where id = ${id} and attempt = ${attempt} and status = 'processing'
    returning *`.execute(db);
  return rows[0] ?? null;
}

/** Records a failed call and ends it. False: another worker has the job. */
export async function writeFailure(tx: SystemTransaction, { id, attempt }: Fence, failure: unknown): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update jobs set failures = failures || ${JSON.stringify([failure])}::jsonb, call_attempt_id = null, call_position = null, call_state = null
    where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(tx);
  return numAffectedRows === 1n;
}

/** Ends the lease, so that another worker can claim the job at once. */
export async function releaseJob(db: SystemHandle, { id, attempt }: Fence): Promise<void> {
  await sql`update jobs set lease_until = ${releasedLease} where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(
    db,
  );
}

/** Checking costs a worker some milliseconds, and thousands of jobs may be parked. So a pause that was replaced or deleted is noticed this late. */
const PARKED_CHECK_SECONDS = 300;
/** Time until every process uses a resumed connection again (`directory/follow-directory`). */
const RESUMED_EVERYWHERE_SECONDS = 6;
/** The job is parked and no worker has it: a worker's lease is never so long. */
const isParked = sql`status = 'processing' and laid_aside > 0 and lease_until > ${lease}`;

/**
 * Parks a job until the first relevant pause ends, or until the next check, with jitter so that jobs parked together do not wake at once. Never
 * beyond the deadline. If no pause is left, for one lease. The attempt does not count.
 */
export async function parkJob(db: SystemHandle, { id, attempt }: Fence): Promise<void> {
  const seconds = sql.lit(PARKED_CHECK_SECONDS);
  const nextCheck = sql`patchbay_now() + (0.8 + 0.2 * random()) * ${seconds} * interval '1 second'`;
  const firstEnd = sql`(select min(ends_at) from connection_pauses where scope in ('platform', jobs.workspace_id) and ends_at > patchbay_now())`;
  await sql`update jobs set laid_aside = laid_aside + 1,
      lease_until = least(deadline_at, greatest(${lease}, least(${nextCheck}, coalesce(${firstEnd}, ${lease}))))
    where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(db);
}

/** Parks a job for so long, never beyond the deadline. The attempt does not count. */
export async function postpone(db: SystemHandle, { id, attempt }: Fence, seconds: number): Promise<void> {
  await sql`update jobs set laid_aside = laid_aside + 1,
      lease_until = least(deadline_at, patchbay_now() + ${seconds}::float8 * interval '1 second')
    where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(db);
}

/** Wakes the parked jobs that the transaction can see after a pause was ended. Jobs that wait for another pause are parked again. */
export async function wakeParkedJobs(tx: DatabaseTransaction): Promise<void> {
  await sql`update jobs set lease_until = patchbay_now() + ${sql.lit(RESUMED_EVERYWHERE_SECONDS)} * interval '1 second'
    where ${isParked}`.execute(tx);
}

/** Wakes a cancelled job that is parked, because no worker would notice the cancellation. */
export async function wakeCancelled(tx: DatabaseTransaction, id: string): Promise<void> {
  await sql`update jobs set lease_until = ${releasedLease} where id = ${id} and ${isParked}`.execute(tx);
}
