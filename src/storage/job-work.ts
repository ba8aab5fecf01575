// A job as its worker writes it: claimed with an attempt number, and every later write conditional on that number and on `processing`
// [jobs.fenced-writes]. No row changed means that another worker has the job by now.
import { type Kysely, sql } from "kysely";
import type { Transacting } from "./database.ts";
import type { JobRow, Tables } from "./tables.ts";

/** Which attempt at which job a write belongs to. */
export interface Fence {
  readonly id: string;
  readonly attempt: number;
}

export const JOB_LEASE_SECONDS = 30;
const lease = sql`patchbay_now() + ${sql.lit(JOB_LEASE_SECONDS)} * interval '1 second'`;

/** Null when it has ended, or somebody is at it. */
export async function claimJob(db: Kysely<Tables>, id: string): Promise<JobRow | null> {
  const { rows } = await sql<JobRow>`
    update jobs set status = 'processing', attempt = attempt + 1, lease_until = ${lease}, started_at = coalesce(started_at, patchbay_now())
    where id = ${id} and (status = 'queued' or (status = 'processing' and lease_until <= patchbay_now()))
    returning *`.execute(db);
  return rows[0] ?? null;
}

/** Lapsed, and no renewal that is still on its way makes it last again. */
const handedBack = sql`'epoch'::timestamptz`;

/** Those still held. A row being written this moment is renewed by the next round. */
export async function renewJobLeases(db: Kysely<Tables>, fences: readonly Fence[]): Promise<readonly Fence[]> {
  if (fences.length === 0) return [];
  const list = sql`jsonb_to_recordset(${JSON.stringify(fences)}::jsonb) as held (id text, attempt int)`;
  const isHeld = sql`jobs.id = held.id and jobs.attempt = held.attempt and jobs.status = 'processing' and jobs.lease_until > ${handedBack}`;
  await sql`update jobs set lease_until = ${lease} where ctid in (
    select jobs.ctid from jobs join ${list} on ${isHeld} for update of jobs skip locked)`.execute(db);
  const { rows } = await sql<Fence>`select jobs.id, jobs.attempt from jobs join ${list} on ${isHeld}`.execute(db);
  return rows;
}

export interface Progress {
  readonly stage: JobRow["stage"];
  readonly fraction: number | null;
}

/** Null when the job is another's. `candidates`: for the request's record, where they have just been judged. */
export async function writeProgress(
  db: Kysely<Tables>,
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

/** What a fetched URL turned out to be. */
export async function writeAudio(
  db: Kysely<Tables>,
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

/** Where the job stands with its provider; null: nowhere. False: it is another's, or a cancellation came first. */
export async function writeCall(
  tx: Kysely<Tables> | Transacting,
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

/** The call that was announced was certainly not made: what is reserved waits for the next. Null when the job is another's. */
export async function withdrawCall(db: Kysely<Tables>, { id, attempt }: Fence): Promise<JobRow | null> {
  const { rows } = await sql<JobRow>`
    update jobs set call_state = case call_state when 'submitting' then 'reserved' else call_state end
    where id = ${id} and attempt = ${attempt} and status = 'processing'
    returning *`.execute(db);
  return rows[0] ?? null;
}

/** A call that served nobody is over. False: the job is another's. */
export async function writeFailure(tx: Transacting, { id, attempt }: Fence, failure: unknown): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update jobs set failures = failures || ${JSON.stringify([failure])}::jsonb, call_attempt_id = null, call_position = null, call_state = null
    where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(tx);
  return numAffectedRows === 1n;
}

/** Another worker may go on at once. */
export async function releaseJob(db: Kysely<Tables>, { id, attempt }: Fence): Promise<void> {
  await sql`update jobs set lease_until = ${handedBack} where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(
    db,
  );
}

/** A look costs some milliseconds of a worker, and thousands of jobs may wait. A pause that was not resumed, but replaced or deleted, is noticed so late. */
const LOOK_AT_LAID_ASIDE_SECONDS = 300;
/** Resumed, a connection is in use again in every process by then (`directory/follow-directory`). */
const RESUMED_EVERYWHERE_SECONDS = 6;
/** No worker holds it: a lease that one renews is never as long. */
const isAsleep = sql`status = 'processing' and laid_aside > 0 and lease_until > ${lease}`;

/**
 * Until the first pause that may concern it ends, or until it is looked at again all the same, jobs that were laid aside together not at
 * once; never beyond the deadline. Where no pause is left by now, no longer than a lease lasts. The attempt counts for nothing.
 */
export async function parkJob(db: Kysely<Tables>, { id, attempt }: Fence): Promise<void> {
  const seconds = sql.lit(LOOK_AT_LAID_ASIDE_SECONDS);
  const later = sql`patchbay_now() + (0.8 + 0.2 * random()) * ${seconds} * interval '1 second'`;
  const firstEnd = sql`(select min(ends_at) from connection_pauses where scope in ('platform', jobs.workspace_id) and ends_at > patchbay_now())`;
  await sql`update jobs set laid_aside = laid_aside + 1,
      lease_until = least(deadline_at, greatest(${lease}, least(${later}, coalesce(${firstEnd}, ${lease}))))
    where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(db);
}

/** For so long, and never beyond the deadline. The attempt counts for nothing. */
export async function postpone(db: Kysely<Tables>, { id, attempt }: Fence, seconds: number): Promise<void> {
  await sql`update jobs set laid_aside = laid_aside + 1,
      lease_until = least(deadline_at, patchbay_now() + ${seconds}::float8 * interval '1 second')
    where id = ${id} and attempt = ${attempt} and status = 'processing'`.execute(db);
}

/** Of those in sight: somebody resumed what they may wait for. Those that wait for something else are laid aside again. */
export async function wakeParkedJobs(tx: Transacting): Promise<void> {
  await sql`update jobs set lease_until = patchbay_now() + ${sql.lit(RESUMED_EVERYWHERE_SECONDS)} * interval '1 second'
    where ${isAsleep}`.execute(tx);
}

/** It is to end, and no worker hears of that. */
export async function wakeCancelled(tx: Transacting, id: string): Promise<void> {
  await sql`update jobs set lease_until = ${handedBack} where id = ${id} and ${isAsleep}`.execute(tx);
}

/** Holds the row until the transaction ends; null when the job is another's. */
export async function lockFenced(tx: Transacting, { id, attempt }: Fence): Promise<JobRow | null> {
  const { rows } = await sql<JobRow>`
    select * from jobs where id = ${id} and attempt = ${attempt} and status = 'processing' for update`.execute(tx);
  return rows[0] ?? null;
}

export interface JobEnding {
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly result: Buffer | null;
  readonly resultKey: string | null;
  readonly error: unknown;
  readonly usage: unknown;
  readonly ttlSeconds: number;
}

/** The row must be locked, and in a state that has this end. */
export async function endRow(
  tx: Transacting,
  { id, attempt }: Fence,
  ending: JobEnding,
): Promise<{ readonly finishedAt: Date; readonly expiresAt: Date }> {
  const { rows } = await sql<{ finishedAt: Date; expiresAt: Date }>`
    update jobs set status = ${ending.status}, stage = 'done', fraction = null, lease_until = null, result = ${ending.result},
      result_key = ${ending.resultKey}, error = ${ending.error === null ? null : JSON.stringify(ending.error)}::jsonb,
      usage = ${ending.usage === null ? null : JSON.stringify(ending.usage)}::jsonb,
      finished_at = patchbay_now(), expires_at = patchbay_now() + ${ending.ttlSeconds}::float8 * interval '1 second'
    where id = ${id} and attempt = ${attempt}
    returning finished_at as "finishedAt", expires_at as "expiresAt"`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("a locked job was not there to end");
  return row;
}
