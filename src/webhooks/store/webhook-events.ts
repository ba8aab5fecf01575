// Writes the event that ends a job, in the job's own transaction, for delivery by webhooks [webhooks.event-per-end].
import { sql } from "kysely";
import type { AppId, EventId, JobId, WorkspaceId } from "../../contract/ids.ts";
import type { Transacting } from "../../storage/database.ts";

export interface TerminalEvent {
  readonly id: EventId;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly jobId: JobId;
  readonly type: `transcription.job.${TerminalEvent["status"]}`;
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly occurredAt: Date;
}

/** Called in the transaction that ends the job, after its event is written. Must use only `tx`. */
export type OnTerminal = (tx: Transacting, event: TerminalEvent) => Promise<void>;

export async function insertWebhookEvent(tx: Transacting, event: TerminalEvent): Promise<void> {
  await sql`insert into webhook_events (id, workspace_id, app_id, job_id, type, status, occurred_at)
    values (${event.id}, ${event.workspaceId}, ${event.appId}, ${event.jobId}, ${event.type}, ${event.status}, ${event.occurredAt})`.execute(
    tx,
  );
}
