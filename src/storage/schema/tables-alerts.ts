// Table types for alerts: reported causes and deliveries. Part of tables.ts.
import type { ColumnType, Generated } from "kysely";
import type { NumberOrNull, TextOrNull, Time, TimeOrNull, TimeWithDefault } from "./columns.ts";

export interface AlertCausesTable {
  destination: string;
  cause: string;
  /** Null: a destination of the operator. */
  workspace_id: TextOrNull;
  occurred_at: Time;
  quiet_until: Time;
}

export interface AlertDeliveriesTable {
  id: string;
  /** Null: a destination of the operator. */
  workspace_id: TextOrNull;
  destination: string;
  event: string;
  body: string;
  state: Generated<"pending" | "delivered" | "failed">;
  attempts_made: Generated<number>;
  next_attempt_at: ColumnType<Date, Date | undefined, Date>;
  last_outcome: TextOrNull;
  last_status: NumberOrNull;
  created_at: TimeWithDefault;
  finished_at: TimeOrNull;
}
