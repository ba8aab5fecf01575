// The body of a delivery: exactly four fields, the same bytes in every attempt [webhooks.payload].
import type { EventStatus, WebhookEventBody } from "../contract/webhook.ts";

interface EventRow {
  readonly job_id: string;
  readonly job_status: EventStatus;
  readonly occurred_at: Date;
}

export function eventBody(row: EventRow): WebhookEventBody {
  return {
    type: `transcription.job.${row.job_status}`,
    job_id: row.job_id,
    status: row.job_status,
    occurred_at: row.occurred_at.toISOString(),
  };
}
