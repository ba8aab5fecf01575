// The rows behind deletions at providers (`provider_deletion`): pending, then done or, after the last attempt, failed
// [jobs.deletion-retries]. A claim moves the row's next attempt on, so that a process that dies with it only delays it.
import { type Kysely, sql } from "kysely";
import { newId, type AppId, type WorkspaceId } from "../contract/ids.ts";
import type { Transacting } from "./database.ts";
import type { Tables } from "./tables.ts";

type Handle = Kysely<Tables>;

export interface DeletionDuty {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  /** The request or job whose recording it is. */
  readonly subject: string;
  /** The directory's key of the provider account. */
  readonly account: string;
  readonly provider: string;
  /** The run went to the sandbox in the provider's place. */
  readonly testMode: boolean;
  /** The provider's own id and where it lies; no secret and no transcript. */
  readonly run: { readonly id: string; readonly details: Readonly<Record<string, unknown>> };
  /** Unless released before: then whoever waited for the run is gone. */
  readonly dueInSeconds: number;
}

/** Waits after a failed attempt; the one after the last ends it. Together two days. */
const WAITS_SECONDS = [30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400];
export const MAX_DELETION_ATTEMPTS = WAITS_SECONDS.length + 1;
/** Longer than a call may take: the last claim must not be overtaken. */
const LAST_WAIT_SECONDS = 300;

export async function insertDeletion(db: Handle, duty: DeletionDuty): Promise<void> {
  await sql`
    insert into provider_deletions (id, workspace_id, app_id, subject, account, provider, test_mode, run, next_at)
    values (${newId("deletion")}, ${duty.workspaceId}, ${duty.appId}, ${duty.subject}, ${duty.account}, ${duty.provider},
      ${duty.testMode}, ${JSON.stringify(duty.run)}::jsonb, patchbay_now() + ${duty.dueInSeconds}::float8 * interval '1 second')`.execute(
    db,
  );
}

/** Due from now on. A job says so from the same moment. Answers whether there is anything to delete. */
export async function releaseDeletions(db: Handle, workspaceId: WorkspaceId, subject: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    update provider_deletions set next_at = patchbay_now()
    where workspace_id = ${workspaceId} and subject = ${subject} and state = 'pending' and attempts = 0
    returning id`.execute(db);
  if (rows.length > 0) await tellJob(db, workspaceId, subject);
  return rows.length > 0;
}

export type DeletionState = "none" | "pending" | "done" | "failed";

/** One word for all runs of a request or job: what failed shows first, then what is still to do. */
export async function readDeletionState(db: Handle, workspaceId: WorkspaceId, subject: string): Promise<DeletionState> {
  const { rows } = await sql<{ state: DeletionState }>`
    select ${stateOf(workspaceId, subject)} as state`.execute(db);
  return rows[0]?.state ?? "none";
}

function stateOf(workspaceId: WorkspaceId, subject: string) {
  return sql`coalesce((select case when bool_or(state = 'failed') then 'failed' when bool_or(state = 'pending') then 'pending' else 'done' end
    from provider_deletions where workspace_id = ${workspaceId} and subject = ${subject} having count(*) > 0), 'none')`;
}

async function tellJob(db: Handle, workspaceId: WorkspaceId, subject: string): Promise<void> {
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
  /** This attempt's number, from 1; fences its outcome. */
  readonly attempt: number;
}

/** What is due, oldest first; claimed by one process each. */
export async function claimDeletions(db: Handle, limit: number): Promise<readonly ClaimedDeletion[]> {
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
 * Deleted, or failed once more: after the last attempt for good; in the transaction in which its job says so. Answers the row's
 * state; null when the claim was overtaken.
 */
export async function endDeletion(
  db: Transacting,
  { id, workspaceId, subject, attempt }: ClaimedDeletion,
  failure: string | null,
): Promise<"pending" | "done" | "failed" | null> {
  const state = failure === null ? "done" : attempt >= MAX_DELETION_ATTEMPTS ? "failed" : "pending";
  const { rows } = await sql`
    update provider_deletions set state = ${state}, last_failure = ${failure},
      finished_at = case when ${state} = 'pending' then null else patchbay_now() end
    where id = ${id} and state = 'pending' and attempts = ${attempt} returning id`.execute(db);
  if (rows.length === 0) return null;
  if (state !== "pending") await tellJob(db, workspaceId, subject);
  return state;
}

/** As long as the record of the request or job it belongs to. What failed stays, for somebody has to see to it. */
const KEPT_DAYS = 30;

/** Forgets what was done long ago, a little at a time. */
export async function purgeDeletions(db: Handle, limit: number): Promise<void> {
  await sql`delete from provider_deletions where id in (select id from provider_deletions
    where state = 'done' and finished_at <= patchbay_now() - ${sql.lit(KEPT_DAYS)} * interval '1 day' limit ${limit})`.execute(
    db,
  );
}

export interface FailedDeletion {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly subject: string;
  readonly account: string;
  readonly provider: string;
  /** The provider's id, for whoever deletes it by hand. */
  readonly runId: string;
  readonly lastFailure: string;
  readonly finishedAt: Date;
}

/** What could finally not be deleted, newest first. */
export async function readFailedDeletions(db: Handle, limit: number): Promise<readonly FailedDeletion[]> {
  const { rows } = await sql<FailedDeletion>`
    select id, workspace_id as "workspaceId", subject, account, provider, run ->> 'id' as "runId", last_failure as "lastFailure",
      finished_at as "finishedAt"
    from provider_deletions where state = 'failed' order by finished_at desc, id desc limit ${limit}`.execute(db);
  return rows;
}
