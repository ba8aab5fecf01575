// Table types for webhooks, their events, deliveries and attempts. Part of tables.ts.
import type { ColumnType, Generated } from "kysely";
import type { Bytes, BytesOrNull, TextOrNull, Time, TimeOrNull, TimeWithDefault } from "./columns.ts";

export interface WebhookEventsTable {
  id: string;
  workspace_id: string;
  app_id: string;
  job_id: string;
  type: string;
  status: "succeeded" | "failed" | "cancelled";
  occurred_at: Time;
}

/** A workspace's completion webhook. `sealed_url`, `secret` and `previous_secret` are sealed. */
export interface WebhooksTable {
  workspace_id: string;
  /** Set only in rows older than `sealed_url`, until a start seals them. */
  url: TextOrNull;
  sealed_url: BytesOrNull;
  enabled: boolean;
  version: Generated<number>;
  secret: Bytes;
  secret_last4: string;
  previous_secret: BytesOrNull;
  previous_secret_until: TimeOrNull;
  failing_since: TimeOrNull;
  disabled_reason: ColumnType<
    "owner" | "gone" | "failing" | null,
    "owner" | null | undefined,
    "owner" | "gone" | "failing" | null
  >;
  disabled_at: TimeOrNull;
  created_at: TimeWithDefault;
  updated_at: TimeWithDefault;
}

export interface WebhookDeliveriesTable {
  id: string;
  workspace_id: string;
  app_id: TextOrNull;
  event_id: string;
  is_test: Generated<boolean>;
  job_id: string;
  job_status: "succeeded" | "failed" | "cancelled";
  occurred_at: Time;
  state: Generated<"pending" | "delivered" | "failed">;
  turn: Generated<number>;
  attempts_made: Generated<number>;
  attempts_total: Generated<number>;
  next_attempt_at: TimeOrNull;
  claimed_until: TimeOrNull;
  ended_by: ColumnType<
    "attempts" | "gone" | "disabled" | "deleted" | null,
    undefined,
    "attempts" | "gone" | "disabled" | "deleted" | null
  >;
  created_at: TimeWithDefault;
  finished_at: TimeOrNull;
}

export interface WebhookAttemptsTable {
  id: string;
  workspace_id: string;
  delivery_id: string;
  number: number;
  started_at: Time;
  outcome: string;
  status_code: ColumnType<number | null, number | null | undefined, number | null>;
  latency_ms: number;
  response: TextOrNull;
}
