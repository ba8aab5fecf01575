// Stores deletions at providers (`provider_deletion`): pending, then done, or failed after the last attempt [jobs.deletion-retries]. A claim
// postpones the next attempt, so that a process that dies during an attempt only delays it.
import { type Kysely, sql } from "kysely";
import { newId, type AppId, type WorkspaceId } from "../../contract/ids.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { SystemHandle, SystemTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type Handle = Kysely<Tables>;

export interface DeletionDuty {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  /** The id of the request or job that the recording belongs to. */
  readonly subject: string;
  /** The directory's key of the provider account. */
  readonly account: string;
  readonly provider: string;
  /** The sandbox ran it in place of the provider. */
  readonly testMode: boolean;
  /** The provider's id of the run and its location. Contains no secret and no transcript. */
  readonly run: { readonly id: string; readonly details: Readonly<Record<string, unknown>> };
  /** Delay unless it is released earlier. By then any caller that waited for the run has ended. */
  readonly dueInSeconds: number;
}

/** Delays after failed attempts. An attempt after the last one ends the deletion. Two days in total. */
const WAITS_SECONDS = [30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400];
export const MAX_DELETION_ATTEMPTS = WAITS_SECONDS.length + 1;
/** Longer than a call may take, so that the last claim is not overtaken. */
const LAST_WAIT_SECONDS = 300;

export async function insertDeletion(db: Handle, duty: DeletionDuty): Promise<void> {
  await sql`
    insert into provider_deletions (id, workspace_id, app_id, subject, account, provider, test_mode, run, next_at)
    values (${newId("deletion")}, ${duty.workspaceId}, ${duty.appId}, ${duty.subject}, ${duty.account}, ${duty.provider},
      ${duty.testMode}, ${JSON.stringify(duty.run)}::jsonb, patchbay_now() + ${duty.dueInSeconds}::float8 * interval '1 second')`.execute(
    db,
  );
}

/** The request or job that recordings belong to. */
export interface DeletionSubject {
  readonly workspaceId: WorkspaceId;
  readonly subject: string;
}

/** Makes deletions due now and updates the jobs' states in the same transaction. Returns whether there is anything to delete. */
export async function releaseDeletions(db: Handle, subjects: readonly DeletionSubject[]): Promise<boolean> {
  const list = subjects.map(({ workspaceId, subject }) => ({ workspace_id: workspaceId, subject }));
  const { rows } = await sql<DeletionSubject>`${PREPARED}
    with given as materialized (select * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as given (workspace_id text, subject text))
    update provider_deletions set next_at = patchbay_now() from given
    where provider_deletions.subject = any(array(select subject from given)) and provider_deletions.subject = given.subject
      and provider_deletions.workspace_id = given.workspace_id and state = 'pending' and attempts = 0
    returning given.workspace_id as "workspaceId", given.subject`.execute(db);
  const released = new Map(rows.map((row) => [row.subject, row]));
  for (const { workspaceId, subject } of released.values()) await updateJobState(db, workspaceId, subject);
  return rows.length > 0;
}

export type DeletionState = "none" | "pending" | "done" | "failed";

/** A single state for all runs of a request or job: failed before pending before done. */
export async function readDeletionState(db: Handle, workspaceId: WorkspaceId, subject: string): Promise<DeletionState> {
  const { rows } = await sql<{ state: DeletionState }>`
    select ${stateOf(workspaceId, subject)} as state`.execute(db);
  return rows[0]?.state ?? "none";
}

function stateOf(workspaceId: WorkspaceId, subject: string) {
  return sql`coalesce((select case when bool_or(state = 'failed') then 'failed' when bool_or(state = 'pending') then 'pending' else 'done' end
    from provider_deletions where workspace_id = ${workspaceId} and subject = ${subject} having count(*) > 0), 'none')`;
}

async function updateJobState(db: Handle, workspaceId: WorkspaceId, subject: string): Promise<void> {
  await sql`update jobs set provider_deletion = ${stateOf(workspaceId, subject)}
    where workspace_id = ${workspaceId} and id = ${subject}`.execute(db);
}

export interface ClaimedDeletion {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly subject: string;
  readonly account: string;
  readonly provider: string;
  readonly testMode: boolean;
  readonly run: unknown;
  /** This attempt's number, from 1. A fencing token for its outcome. */
  readonly attempt: number;
}

/** Claims due deletions for this process, oldest first. */
export async function claimDeletions(db: SystemHandle, limit: number): Promise<readonly ClaimedDeletion[]> {
  const { rows } = await sql<ClaimedDeletion>`
    update provider_deletions set attempts = attempts + 1,
      next_at = patchbay_now() + coalesce((array[${sql.raw(WAITS_SECONDS.join(", "))}])[attempts + 1], ${sql.lit(LAST_WAIT_SECONDS)}) * interval '1 second'
    where id in (select id from provider_deletions where state = 'pending' and next_at <= patchbay_now()
      order by next_at limit ${limit} for update skip locked)
    returning id, workspace_id as "workspaceId", subject, account, provider, test_mode as "testMode", run, attempts as attempt`.execute(
    db,
  );
  return rows;
}

/**
 * Records that an attempt succeeded or failed, for good after the last attempt, and updates the job in the same transaction. Returns the row's
 * state; null: the claim was overtaken.
 */
export async function endDeletion(
  db: SystemTransaction,
  { id, workspaceId, subject, attempt }: ClaimedDeletion,
  failure: string | null,
): Promise<"pending" | "done" | "failed" | null> {
  const state = failure === null ? "done" : attempt >= MAX_DELETION_ATTEMPTS ? "failed" : "pending";
  const { rows } = await sql`
    update provider_deletions set state = ${state}, last_failure = ${failure},
      finished_at = case when ${state} = 'pending' then null else patchbay_now() end
    where id = ${id} and state = 'pending' and attempts = ${attempt} returning id`.execute(db);
  if (rows.length === 0) return null;
  if (state !== "pending") await updateJobState(db, workspaceId, subject);
  return state;
}

/** As long as the record of its request or job. Failed deletions are kept, because the operator must handle them. */
const KEPT_DAYS = 30;

/** Deletes old completed deletions, at most `limit` at a time. */
export async function purgeDeletions(db: SystemHandle, limit: number): Promise<void> {
  await sql`delete from provider_deletions where id in (select id from provider_deletions
    where state = 'done' and finished_at <= patchbay_now() - ${sql.lit(KEPT_DAYS)} * interval '1 day' limit ${limit})`.execute(
    db,
  );
}

export interface DeletionFilter {
  /** Absent: deletions of every workspace. */
  readonly owner?: WorkspaceId | undefined;
  readonly status: "pending" | "done" | "failed" | null;
  /** Deletions older than this id. */
  readonly after: string | null;
  readonly limit: number;
}

export type DeletionRow = Awaited<ReturnType<typeof listDeletions>>[number];

/** Newest first. */
export async function listDeletions(db: Handle, { owner, status, after, limit }: DeletionFilter) {
  let query = db.selectFrom("provider_deletions").selectAll().select(sql<string>`run ->> 'id'`.as("provider_id"));
  if (owner !== undefined) query = query.where("workspace_id", "=", owner);
  if (status !== null) query = query.where("state", "=", status);
  if (after !== null) query = query.where("id", "<", after);
  return query.orderBy("id", "desc").limit(limit).execute();
}

export interface FailedDeletion {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly subject: string;
  readonly account: string;
  readonly provider: string;
  /** The provider's id, for a manual deletion. */
  readonly runId: string;
  readonly lastFailure: string;
  readonly finishedAt: Date;
}

/** Deletions that finally failed, newest first. */
export async function readFailedDeletions(db: SystemHandle, limit: number): Promise<readonly FailedDeletion[]> {
  const { rows } = await sql<FailedDeletion>`
    select id, workspace_id as "workspaceId", subject, account, provider, run ->> 'id' as "runId", last_failure as "lastFailure",
      finished_at as "finishedAt"
    from provider_deletions where state = 'failed' order by finished_at desc, id desc limit ${limit}`.execute(db);
  return rows;
}
