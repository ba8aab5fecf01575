// The request log (contract 10): written in batches, read by the app it belongs to, gone after its retention.
import { type Kysely, sql } from "kysely";
import type { AppId, WorkspaceId } from "../contract/ids.ts";
import { PREPARED } from "./prepared.ts";
import type { AttemptRow, JobRow, RequestRow, Tables } from "./tables.ts";

export interface RequestOwner {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
}

/** Null: whoever's. Only the operator's question names no workspace. */
export interface RequestScope {
  readonly workspaceId: WorkspaceId | null;
  readonly appId: AppId | null;
}

export type NewRequest = Omit<RequestRow, "at" | "duration_ms" | "audio_ms" | "recorded_at"> & {
  readonly duration_ms: number;
  readonly audio_ms: number | null;
  readonly received_at_ms: number;
};

/** One that is there already stays as it is: a batch may be written again after a commit whose answer was lost. */
export async function insertRequests(
  db: Kysely<Tables>,
  /** Each a `NewRequest` as JSON. */
  rows: readonly string[],
  /** Of the clock that they were timed with: clocks of machines differ, and the database's is the one that is kept. */
  nowMs: number,
): Promise<void> {
  if (rows.length === 0) return;
  const columns = sql.raw(
    "id, workspace_id, app_id, key_id, endpoint, status, code, test_mode, asked, purpose, route, route_version, refusal, candidates, key_use, duration_ms, audio_ms, job_id",
  );
  await sql`${PREPARED} insert into requests (${columns}, at)
    select ${columns}, patchbay_now() - greatest(0, ${nowMs}::float8 - received_at_ms) * interval '1 millisecond' from jsonb_to_recordset(${`[${rows.join(",")}]`}::jsonb) as given (
      id text, workspace_id text, app_id text, key_id text, endpoint text, status int, code text, test_mode boolean, asked jsonb,
      purpose jsonb, route text, route_version int, refusal text, candidates jsonb, key_use text, duration_ms bigint, audio_ms bigint, job_id text,
      received_at_ms float8)
    on conflict (id) do nothing`.execute(db);
}

export async function readRequest(db: Kysely<Tables>, scope: RequestScope, id: string): Promise<RequestRow | null> {
  let query = db.selectFrom("requests").selectAll().where("id", "=", id);
  if (scope.workspaceId !== null) query = query.where("workspace_id", "=", scope.workspaceId);
  if (scope.appId !== null) query = query.where("app_id", "=", scope.appId);
  return (await query.executeTakeFirst()) ?? null;
}

/** Those of the request and of the job it made, in their order. */
export async function readAttempts(
  db: Kysely<Tables>,
  owner: RequestOwner,
  requestId: string,
): Promise<readonly AttemptRow[]> {
  return db
    .selectFrom("attempts")
    .selectAll()
    .where("request_id", "=", requestId)
    .where("workspace_id", "=", owner.workspaceId)
    .where("app_id", "=", owner.appId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

export type RecordedJob = Pick<JobRow, "id" | "status" | "error" | "candidates" | "cancel_requested">;

export async function readRecordedJob(
  db: Kysely<Tables>,
  owner: RequestOwner,
  jobId: string,
): Promise<RecordedJob | null> {
  const row = await db
    .selectFrom("jobs")
    .select(["id", "status", "error", "candidates", "cancel_requested"])
    .where("id", "=", jobId)
    .where("workspace_id", "=", owner.workspaceId)
    .where("app_id", "=", owner.appId)
    .executeTakeFirst();
  return row ?? null;
}

/** Answers how many went; at most `limit`, so that no sweep holds the table for long. */
export async function purgeRequests(db: Kysely<Tables>, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from requests where ctid in (
    select ctid from requests where at <= patchbay_now() - ${keptDays}::int * interval '1 day' limit ${limit})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}
