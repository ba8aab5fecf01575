// The request log: written in batches [requests.write-batches], read by its app, and deleted after its retention.
import { type Kysely, sql } from "kysely";
import type { SystemHandle } from "../../storage/database.ts";
import type { AppId, WorkspaceId } from "../../contract/ids.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import { columnsBut, insertDeduplicated, type SharingRow, coarseTimestamp } from "../../storage/insert-deduplicated.ts";
import type { AttemptRow, JobRow, RequestRow, Tables } from "../../storage/schema/tables.ts";

export interface RequestOwner {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
}

/** Null means any. Only the operator's queries name no workspace. */
export interface RequestScope {
  readonly workspaceId: WorkspaceId | null;
  readonly appId: AppId | null;
}

type OwnColumn = "id" | "at" | "duration_ms" | "audio_ms" | "job_id" | "recorded_at";
/** Columns that records of one route and key usually share. */
export type SharedRequest = Omit<RequestRow, OwnColumn>;

export interface NewRequest extends SharingRow {
  readonly id: string;
  readonly durationMs: number;
  readonly audioMs: number | null;
  readonly jobId: string | null;
  readonly receivedAtMs: number;
}

const OWN = {
  id: ["text", (row: NewRequest) => row.id],
  duration_ms: ["bigint", (row: NewRequest) => row.durationMs],
  audio_ms: ["bigint", (row: NewRequest) => row.audioMs],
  job_id: ["text", (row: NewRequest) => row.jobId],
  received_at_ms: ["float8", (row: NewRequest) => row.receivedAtMs],
} as const;

const SHARED: Readonly<Record<keyof SharedRequest, string>> = {
  workspace_id: "text",
  app_id: "text",
  key_id: "text",
  endpoint: "text",
  status: "int",
  code: "text",
  test_mode: "boolean",
  asked: "jsonb",
  purpose: "jsonb",
  route: "text",
  route_version: "int",
  refusal: "text",
  candidates: "jsonb",
  key_use: "text",
};

const COLUMNS = columnsBut("received_at_ms", OWN, SHARED);

export interface WritingRequests {
  /** The current time of the clock that `receivedAtMs` was measured with. */
  readonly nowMs: number;
  /** True after a commit with an unknown outcome: existing rows are then kept. Checking has a cost, so first writes skip it. */
  readonly mayBeThere: boolean;
}

export async function insertRequests(
  db: SystemHandle,
  rows: readonly NewRequest[],
  { nowMs, mayBeThere }: WritingRequests,
): Promise<void> {
  if (rows.length === 0) return;
  await sql`${PREPARED} insert into requests (${COLUMNS}, at)
    select ${COLUMNS}, ${coarseTimestamp(nowMs, "received_at_ms")} from ${insertDeduplicated(rows, OWN, SHARED)}
    ${sql.raw(mayBeThere ? "on conflict (id) do nothing" : "")}`.execute(db);
}

export async function readRequest(db: Kysely<Tables>, scope: RequestScope, id: string): Promise<RequestRow | null> {
  let query = db.selectFrom("requests").selectAll().where("id", "=", id);
  if (scope.workspaceId !== null) query = query.where("workspace_id", "=", scope.workspaceId);
  if (scope.appId !== null) query = query.where("app_id", "=", scope.appId);
  return (await query.executeTakeFirst()) ?? null;
}

/**
 * Sorts the attempts of one request, before their ids. Start times of chats from a lease are computed back at each write and are imprecise, but
 * all of a request's come from one process with ordered ids. A job's may come from several processes, so the database's clock decides.
 */
export const IN_ORDER = sql`case when lease_id is null then created_at end`;

/** Attempts of the request and of the job that it created, in order. */
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
    .orderBy(IN_ORDER)
    .orderBy("id")
    .execute();
}

export type RecordedJob = Pick<JobRow, "id" | "status" | "error" | "candidates" | "cancel_requested" | "call_state">;

export async function readRecordedJob(
  db: Kysely<Tables>,
  owner: RequestOwner,
  jobId: string,
): Promise<RecordedJob | null> {
  const row = await db
    .selectFrom("jobs")
    .select(["id", "status", "error", "candidates", "cancel_requested", "call_state"])
    .where("id", "=", jobId)
    .where("workspace_id", "=", owner.workspaceId)
    .where("app_id", "=", owner.appId)
    .executeTakeFirst();
  return row ?? null;
}

/** Returns how many were deleted, at most `limit`, so that no sweep locks the table for long. */
export async function purgeRequests(db: SystemHandle, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from requests where ctid in (
    select ctid from requests where at <= patchbay_now() - ${keptDays}::int * interval '1 day' limit ${limit})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}
