// Table types for budgets, leases, calls to providers, and the hourly and daily usage totals. Part of tables.ts.
import type { ColumnType, Generated } from "kysely";
import type {
  Bigint,
  BigintOrNull,
  BigintWithDefault,
  Json,
  JsonWithDefault,
  NumericOrNull,
  TextOrNull,
  Time,
  TimeOrNull,
  TimeWithDefault,
} from "./columns.ts";
import type { BillingClass } from "../../contract/billing-class.ts";

/** Which of its workspace's plan budgets pays, in addition to the app's own budgets. */
export type Funding = "none" | "allowance" | "credits";

export interface BudgetsTable {
  id: string;
  workspace_id: string;
  /** Null: the budget belongs to the whole workspace. */
  app_id: TextOrNull;
  kind: Generated<"budget" | "allowance" | "credits">;
  period: "day" | "month" | "total";
  limit_nano_usd: BigintOrNull;
  limit_audio_seconds: NumericOrNull;
  limit_tokens: BigintOrNull;
  soft_limit: NumericOrNull;
  managed_by: string;
}

export interface BudgetWindowsTable {
  budget_id: string;
  window_start: Time;
  spent_nano_usd: BigintWithDefault;
  reserved_nano_usd: BigintWithDefault;
  spent_audio_ms: BigintWithDefault;
  reserved_audio_ms: BigintWithDefault;
  spent_tokens: BigintWithDefault;
  reserved_tokens: BigintWithDefault;
  /** When it was logged that the budget's soft limit was reached. */
  soft_limit_told_at: TimeOrNull;
}

export interface BudgetLeasesTable {
  id: string;
  workspace_id: string;
  app_id: string;
  funding: Funding;
  /** The process that spends the lease. */
  holder: string;
  granted_nano_usd: Bigint;
  granted_tokens: Bigint;
  settled_nano_usd: BigintWithDefault;
  settled_tokens: BigintWithDefault;
  /** In the same form as in `attempts`. */
  windows: Json;
  state: Generated<"open" | "closed">;
  lease_until: Time;
  created_at: TimeWithDefault;
  closed_at: TimeOrNull;
  /** The holder died, so what was not settled counts as spent. */
  unresolved: Generated<boolean>;
}

export interface AttemptsTable {
  id: string;
  request_id: string;
  workspace_id: string;
  app_id: string;
  key_id: TextOrNull;
  endpoint: string;
  connection: string;
  provider: string;
  model: string;
  position: number;
  billing_class: BillingClass;
  audio_ms: Bigint;
  reserved_nano_usd: Bigint;
  estimate_nano_usd: BigintOrNull;
  price: ColumnType<unknown, string | null, string | null>;
  /** `[{ "budget_id", "window_start" }]`: the windows in which the amount is reserved. */
  windows: JsonWithDefault;
  state: "open" | "settled";
  deadline_at: Time;
  created_at: TimeWithDefault;
  settled_at: TimeOrNull;
  outcome: TextOrNull;
  unresolved: Generated<boolean>;
  provider_ms: BigintOrNull;
  provider_seconds_flag: Generated<boolean>;
  billable_audio_ms: BigintOrNull;
  charge_nano_usd: BigintOrNull;
  provider_request_id: TextOrNull;
  receipts: ColumnType<unknown, string | null | undefined, string | null>;
  /** `{ "status", "code", "requestId", "message" }` of a provider's error response. */
  provider_failure: ColumnType<unknown, string | null | undefined, string | null>;
  reserved_tokens: BigintWithDefault;
  input_tokens: BigintOrNull;
  output_tokens: BigintOrNull;
  cached_input_tokens: BigintOrNull;
  usage_source: ColumnType<"reported" | "estimated" | null, "reported" | "estimated" | null | undefined, string | null>;
  /** The lease that paid for the attempt, if it had no reservation of its own. */
  lease_id: TextOrNull;
  /** The purpose that was applied. */
  purpose: TextOrNull;
}

interface UsageSums {
  workspace_id: string;
  app_id: string;
  key_id: TextOrNull;
  purpose: TextOrNull;
  provider: string;
  model: string;
  billing_class: BillingClass;
  capability: "audio_input" | "chat";
  attempts: Bigint;
  failed: Bigint;
  audio_ms: Bigint;
  billable_audio_ms: Bigint;
  input_tokens: Bigint;
  output_tokens: Bigint;
  cached_input_tokens: Bigint;
  estimated_input_tokens: Bigint;
  estimated_output_tokens: Bigint;
  charge_nano_usd: Bigint;
  list_nano_usd: Bigint;
  unpriced: Bigint;
  unresolved: Bigint;
}

/** By hour of settlement. */
export interface UsageHoursTable extends UsageSums {
  hour: Time;
}

export interface UsageDaysTable extends UsageSums {
  day: Time;
}

export interface UsageProgressTable {
  /** Always 1: a single row. */
  id: number;
  /** Everything settled before this time is in the hours. */
  rolled_until: Time;
  barrier_at: TimeOrNull;
  /** Transactions up to this id may still settle attempts before the barrier. */
  barrier_xid: TextOrNull;
}
