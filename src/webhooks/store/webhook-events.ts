// Stores the events that end jobs, each in the statement that ends its job, for delivery by webhooks [webhooks.event-per-end] and streams [webhooks.listen].
import { type RawBuilder, sql } from "kysely";
import { type AppId, brand, type EventId, type JobId, type WorkspaceId } from "../../contract/ids.ts";
import type { EventStatus } from "../../contract/webhook.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";

export interface TerminalEvent {
  readonly id: EventId;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly jobId: JobId;
  readonly type: `transcription.job.${TerminalEvent["status"]}`;
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly occurredAt: Date;
}

/** Called in the transaction that ends the jobs, after their events are written. Must use only `tx`. */
export type OnTerminal = (tx: DatabaseTransaction, events: readonly TerminalEvent[]) => Promise<void>;

/**
 * Inserts the event of each row of `ended`, a query in the same statement with the columns event_id, workspace_id, app_id, id, status and
 * finished_at of jobs.
 */
export function insertEventsOf(ended: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into webhook_events (id, workspace_id, app_id, job_id, type, status, occurred_at)
    select event_id, workspace_id, app_id, id, 'transcription.job.' || status, status, date_trunc('milliseconds', finished_at) from ${ended}`;
}

/** The time of an event. Now, if the workspace has no such event. */
export async function readEventTime(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  id: string | null,
): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    select coalesce((select occurred_at from webhook_events where id = ${id} and workspace_id = ${workspaceId}), patchbay_now()) as at`.execute(
    tx,
  );
  return rows[0]?.at ?? new Date(0);
}

export interface EventRow {
  readonly id: EventId;
  readonly job_id: string;
  readonly status: EventStatus;
  readonly occurred_at: Date;
}

/** Events after another event, or after a time, less the seconds that a commit may be late. */
export type EventsAfter = Pick<EventRow, "id" | "occurred_at"> | { readonly time: Date; readonly lateSeconds: number };

/** Oldest first. */
export async function listEvents(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  after: EventsAfter,
  limit: number,
): Promise<readonly EventRow[]> {
  const rows = await tx
    .selectFrom("webhook_events")
    .select(["id", "job_id", "status", "occurred_at"])
    .where("workspace_id", "=", workspaceId)
    .where(isAfter(after))
    .orderBy("occurred_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, id: brand("event", row.id) }));
}

function isAfter(after: EventsAfter) {
  return "time" in after
    ? sql<boolean>`occurred_at > ${after.time}::timestamptz - make_interval(secs => ${after.lateSeconds})`
    : // Exact, because an event's time is stored in whole milliseconds, as in a Date.
      sql<boolean>`(occurred_at, id) > (${after.occurred_at}::timestamptz, ${after.id})`;
}
