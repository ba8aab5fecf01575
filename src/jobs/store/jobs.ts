// Creates, reads, lists and cancels jobs for their callers. Every function takes the owner first: another tenant's job does not exist
// [jobs.visibility].
import { type Kysely, sql } from "kysely";
import type { AppId, JobId, KeyId, RequestId, WorkspaceId } from "../../contract/ids.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import { isReadWithRow, type PieceRange, readPieces } from "../../storage/read-pieces.ts";
import { CLAIMED } from "./claimed-jobs.ts";
import type { JobRow, Tables } from "../../storage/schema/tables.ts";
import { concatenate } from "./concatenate.ts";

export interface JobOwner {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
}

export interface NewJob {
  readonly id: JobId;
  readonly keyId: KeyId | null;
  readonly requestId: RequestId;
  readonly task: JobRow["task"];
  /** The sealed request. */
  readonly request: Buffer;
  readonly audio: unknown;
  readonly audioKey: string | null;
  /** The attempt with the reservation that is kept for the call. */
  readonly reserved: { readonly attemptId: string; readonly position: number } | null;
  readonly purpose: unknown;
  readonly metadata: Readonly<Record<string, string>>;
  readonly slotKey: Buffer | null;
  readonly beginsSimulated: boolean;
}

/** Returns the times of each job by its id. */
export async function insertJobs(
  tx: DatabaseTransaction,
  jobs: readonly (JobOwner & NewJob)[],
  deadlineSeconds: number,
): Promise<ReadonlyMap<string, { readonly createdAt: Date; readonly deadlineAt: Date }>> {
  if (jobs.length === 0) return new Map();
  const requests = concatenate(jobs.map(({ request }) => request));
  const list = jobs.map((job, index) => ({
    id: job.id,
    workspace_id: job.workspaceId,
    app_id: job.appId,
    key_id: job.keyId,
    request_id: job.requestId,
    task: job.task,
    request_at: requests.places[index]?.at,
    request_bytes: requests.places[index]?.length,
    audio: job.audio,
    audio_key: job.audioKey,
    call_attempt_id: job.reserved?.attemptId ?? null,
    call_position: job.reserved?.position ?? null,
    purpose: job.purpose,
    metadata: job.metadata,
    slot_key: job.slotKey?.toString("hex") ?? null,
    begins_simulated: job.beginsSimulated,
  }));
  const { rows } = await sql<{ id: string; createdAt: Date; deadlineAt: Date }>`${PREPARED}
    insert into jobs (id, workspace_id, app_id, key_id, request_id, task, request, audio, audio_key, call_attempt_id, call_position,
      call_state, purpose, metadata, slot_key, begins_simulated, deadline_at)
    select id, workspace_id, app_id, key_id, request_id, task, substr(${requests.bytes}::bytea, request_at, request_bytes), audio, audio_key,
      call_attempt_id, call_position, case when call_attempt_id is not null then 'reserved' end, purpose, metadata, decode(slot_key, 'hex'),
      begins_simulated, patchbay_now() + ${deadlineSeconds}::float8 * interval '1 second'
    from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as given (id text, workspace_id text, app_id text, key_id text, request_id text, task text,
      request_at int, request_bytes int, audio jsonb, audio_key text, call_attempt_id text, call_position int, purpose jsonb, metadata jsonb,
      slot_key text, begins_simulated boolean)
    returning id, created_at as "createdAt", deadline_at as "deadlineAt"`.execute(tx);
  return new Map(rows.map(({ id, ...times }) => [id, times]));
}

/**
 * Claims jobs that this transaction inserted, so that no other process can: as `claimJobs` does, without a message and without a commit of its own.
 */
export async function beginJobs(tx: DatabaseTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`${PREPARED}
    update jobs set ${CLAIMED} where id = any(${ids}::text[]) and status = 'queued'`.execute(tx);
}

/** A job as callers may see it, without its sealed request. */
export interface VisibleJob extends Omit<JobRow, "request" | "candidates" | "laid_aside" | "begins_simulated"> {
  /** The sealed result, if it is small and in the row. A larger one is read in pieces (`readResultPieces`). */
  readonly result: Buffer | null;
  /** Length of a result in the row, small or not. */
  readonly result_bytes: number | null;
  /** Whether the sandbox served the job, or will serve it. */
  readonly simulated: boolean;
}
export type JobSummary = Omit<VisibleJob, "result" | "result_bytes">;

const SUMMARY = [
  "id",
  "workspace_id",
  "app_id",
  "key_id",
  "request_id",
  "task",
  "status",
  "stage",
  "fraction",
  "attempt",
  "lease_until",
  "woken_at",
  "cancel_requested",
  "audio",
  "audio_key",
  "call_attempt_id",
  "call_position",
  "call_state",
  "remote_run",
  "failures",
  "purpose",
  "metadata",
  "slot_key",
  "result_key",
  "error",
  "usage",
  "provider_deletion",
  "created_at",
  "started_at",
  "deadline_at",
  "finished_at",
  "expires_at",
  "purged_at",
] as const satisfies readonly Exclude<keyof JobSummary, "simulated">[];

/**
 * Determined by the job's successful calls, else by its latest call, which is the reserved one, else by the flag of its submission. Attempts
 * outlive jobs.
 */
const SIMULATED = sql<boolean>`coalesce(
  (select bool_or(served.billing_class = 'simulated') from attempts as served
    where served.request_id = jobs.request_id and served.workspace_id = jobs.workspace_id and served.outcome = 'succeeded'),
  (select latest.billing_class = 'simulated' from attempts as latest
    where latest.request_id = jobs.request_id and latest.workspace_id = jobs.workspace_id
    order by latest.created_at desc, latest.id desc limit 1),
  begins_simulated, false)`.as("simulated");

const IS_PAST = sql<boolean>`coalesce(expires_at <= patchbay_now(), false)`.as("is_past");

/** Hides an expired result at once, however late the sweep deletes it. */
function withoutExpired<Row extends JobSummary>(row: Row & { readonly is_past: boolean }): Row {
  return row.is_past
    ? { ...row, result: null, result_bytes: null, result_key: null, purged_at: row.purged_at ?? row.expires_at }
    : row;
}

const SMALL_RESULT = sql<Buffer | null>`
  case when ${isReadWithRow(sql.ref("result"))} then result end`.as("result");
const RESULT_BYTES = sql<number | null>`octet_length(result)`.as("result_bytes");

export function readResultPieces(
  db: Kysely<Tables>,
  { workspace_id, id }: Pick<JobRow, "workspace_id" | "id">,
  range: PieceRange,
): Promise<readonly Buffer[] | null> {
  return readPieces(db, range, {
    column: sql.ref("result"),
    rows: sql`jobs`,
    where: sql`id = ${id} and workspace_id = ${workspace_id}`,
  });
}

export async function readJob(db: Kysely<Tables>, owner: JobOwner, id: string): Promise<VisibleJob | null> {
  const row = await db
    .selectFrom("jobs")
    .select([...SUMMARY, SMALL_RESULT, RESULT_BYTES, IS_PAST, SIMULATED])
    .where("id", "=", id)
    .where("workspace_id", "=", owner.workspaceId)
    .where("app_id", "=", owner.appId)
    .executeTakeFirst();
  return row === undefined ? null : withoutExpired(row);
}

/** For holders of a signed URL of the result, which is valid without regard to the app. */
export async function readJobOfWorkspace(
  db: Kysely<Tables>,
  workspaceId: string,
  id: string,
): Promise<VisibleJob | null> {
  const row = await db
    .selectFrom("jobs")
    .select([...SUMMARY, SMALL_RESULT, RESULT_BYTES, IS_PAST, SIMULATED])
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return row === undefined ? null : withoutExpired(row);
}

/** Which jobs: a null app for a workspace's administrator, both null for the operator. */
export interface JobScope {
  readonly workspaceId: WorkspaceId | null;
  readonly appId: AppId | null;
}

export interface JobPage {
  readonly status: JobRow["status"] | null;
  /** Filters by one id. */
  readonly id: string | null;
  readonly limit: number;
  /** The last id of the previous page. */
  readonly before: string | null;
}

/** Newest first; ids sort by time. */
export async function listJobs(
  db: Kysely<Tables>,
  { workspaceId, appId }: JobScope,
  page: JobPage,
): Promise<readonly JobSummary[]> {
  let query = db.selectFrom("jobs").select([...SUMMARY, IS_PAST, SIMULATED]);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  if (appId !== null) query = query.where("app_id", "=", appId);
  if (page.status !== null) query = query.where("status", "=", page.status);
  // Repeats the condition of the partial indexes.
  if (page.status !== null && page.status !== "succeeded") query = query.where(sql<boolean>`status <> 'succeeded'`);
  if (page.id !== null) query = query.where("id", "=", page.id);
  if (page.before !== null) query = query.where("id", "<", page.before);
  return (await query.orderBy("id", "desc").limit(page.limit).execute()).map(withoutExpired);
}

/** Locks the row until the transaction ends. */
export async function lockJob(tx: DatabaseTransaction, owner: JobOwner, id: string): Promise<JobRow | null> {
  const row = await tx
    .selectFrom("jobs")
    .selectAll()
    .where("id", "=", id)
    .where("workspace_id", "=", owner.workspaceId)
    .where("app_id", "=", owner.appId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function requestCancel(tx: DatabaseTransaction, owner: JobOwner, id: string): Promise<void> {
  await sql`update jobs set cancel_requested = true
    where id = ${id} and workspace_id = ${owner.workspaceId} and app_id = ${owner.appId} and status = 'processing'`.execute(
    tx,
  );
}

/** Counts unfinished jobs of all apps for the operator's metrics, by an index of unfinished jobs. */
export async function jobsByState(
  db: Kysely<Tables>,
): Promise<readonly { readonly labels: readonly string[]; readonly value: number }[]> {
  const { rows } = await sql<{ state: string; value: string }>`
    select state, count(jobs.status)::text as value from unnest(array['queued', 'processing']) as state
    left join jobs on jobs.status = state and jobs.status in ('queued', 'processing') group by state`.execute(db);
  return rows.map(({ state, value }) => ({ labels: [state], value: Number(value) }));
}
