// The tables as Kysely sees them; the migrations are the truth, schema.sql shows it.
import type { ColumnType, Generated, Selectable } from "kysely";
import type {
  Json,
  JsonWithDefault,
  Bigint,
  BigintWithDefault,
  BigintOrNull,
  Bytes,
  BytesOrNull,
  Time,
  TimeWithDefault,
  TimeOrNull,
  NumericOrNull,
  NumberOrNull,
  TextOrNull,
} from "./columns.ts";
import type {
  AuditHeadsTable,
  AuditLogTable,
  AudioUrlDomainsTable,
  CreditGrantsTable,
  PlansTable,
  PricesTable,
} from "./tables-administration.ts";
import type { ConnectionsTable, DirectoryStateTable, RoutesTable, RouteVersionsTable } from "./tables-directory.ts";

interface WorkspacesTable {
  id: string;
  slug: string;
  plan: TextOrNull;
  managed_by: string;
  created_at: TimeWithDefault;
}

interface AppsTable {
  id: string;
  workspace_id: string;
  slug: string;
  name: string;
  settings: JsonWithDefault;
  managed_by: string;
  created_at: TimeWithDefault;
}

interface ApiKeysTable {
  id: string;
  workspace_id: string;
  app_id: TextOrNull;
  name: string;
  role: "member" | "admin" | "operator";
  scopes: Generated<string[]>;
  prefix: string;
  last4: string;
  secret_hash: Bytes;
  settings: JsonWithDefault;
  managed_by: string;
  created_at: TimeWithDefault;
  expires_at: TimeOrNull;
  revoked_at: TimeOrNull;
  last_used_at: TimeOrNull;
  /** The key it takes over from. */
  replaces: TextOrNull;
}

interface BudgetsTable {
  id: string;
  workspace_id: string;
  /** Null for what belongs to the whole workspace. */
  app_id: TextOrNull;
  kind: Generated<"budget" | "allowance" | "credits">;
  period: "day" | "month" | "total";
  limit_nano_usd: BigintOrNull;
  limit_audio_seconds: NumericOrNull;
  limit_tokens: BigintOrNull;
  soft_limit: NumericOrNull;
  managed_by: string;
}

interface BudgetWindowsTable {
  budget_id: string;
  window_start: Time;
  spent_nano_usd: BigintWithDefault;
  reserved_nano_usd: BigintWithDefault;
  spent_audio_ms: BigintWithDefault;
  reserved_audio_ms: BigintWithDefault;
  spent_tokens: BigintWithDefault;
  reserved_tokens: BigintWithDefault;
}

interface IdempotencySlotsTable {
  app_id: string;
  key_sha256: Bytes;
  workspace_id: string;
  endpoint: string;
  fingerprint: Bytes;
  state: "reserved" | "dispatched" | "completed" | "burned";
  /** Fresh for each claim: every later write is conditional on it. */
  owner: string;
  lease_until: Time;
  status: ColumnType<number | null, number | null | undefined, number | null>;
  headers: ColumnType<unknown, string | null | undefined, string | null>;
  body: BytesOrNull;
  created_at: Time;
  expires_at: Time;
}

interface AttemptsTable {
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
  billing_class: "metered" | "provider_billed" | "simulated";
  audio_ms: Bigint;
  reserved_nano_usd: Bigint;
  estimate_nano_usd: BigintOrNull;
  price: ColumnType<unknown, string | null, string | null>;
  /** `[{ "budget_id", "window_start" }]`: where the reservation was taken, and is given back. */
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
  reserved_tokens: BigintWithDefault;
  input_tokens: BigintOrNull;
  output_tokens: BigintOrNull;
  cached_input_tokens: BigintOrNull;
  usage_source: ColumnType<"reported" | "estimated" | null, "reported" | "estimated" | null | undefined, string | null>;
  /** The lease that paid it, where it had no reservation of its own. */
  lease_id: TextOrNull;
  /** The one that was applied. */
  purpose: TextOrNull;
}

interface BudgetLeasesTable {
  id: string;
  workspace_id: string;
  app_id: string;
  funding: "none" | "allowance" | "credits";
  /** The process that spends it. */
  holder: string;
  granted_nano_usd: Bigint;
  granted_tokens: Bigint;
  settled_nano_usd: BigintWithDefault;
  settled_tokens: BigintWithDefault;
  /** As in `attempts`. */
  windows: Json;
  state: Generated<"open" | "closed">;
  lease_until: Time;
  created_at: TimeWithDefault;
  closed_at: TimeOrNull;
  /** Its holder died: what was not settled counts as spent. */
  unresolved: Generated<boolean>;
}

interface JobsTable {
  id: string;
  workspace_id: string;
  app_id: string;
  key_id: TextOrNull;
  request_id: string;
  task: "transcribe" | "translate";
  status: Generated<"queued" | "processing" | "succeeded" | "failed" | "cancelled">;
  stage: Generated<"queued" | "fetching" | "measuring" | "transcribing" | "storing" | "done">;
  fraction: ColumnType<number | null, number | null | undefined, number | null>;
  /** Raised by each claim; every write of a worker is conditional on it. */
  attempt: Generated<number>;
  lease_until: TimeOrNull;
  /** When its worker was last told of it. */
  woken_at: TimeWithDefault;
  cancel_requested: Generated<boolean>;
  /** Sealed: what was asked, the source URL, the route as it was. Gone after the purge. */
  request: BytesOrNull;
  /** What was measured. */
  audio: ColumnType<unknown, string | null | undefined, string | null>;
  audio_key: TextOrNull;
  call_attempt_id: TextOrNull;
  call_position: ColumnType<number | null, number | null | undefined, number | null>;
  call_state: ColumnType<
    "reserved" | "submitting" | "submitted" | null,
    "reserved" | "submitting" | "submitted" | null | undefined,
    "reserved" | "submitting" | "submitted" | null
  >;
  remote_run: ColumnType<unknown, string | null | undefined, string | null>;
  failures: JsonWithDefault;
  /** The targets as its last worker judged them. */
  candidates: ColumnType<unknown, string | null | undefined, string | null>;
  purpose: Json;
  metadata: JsonWithDefault;
  /** SHA-256 of the idempotency key it was submitted under. */
  slot_key: BytesOrNull;
  /** Sealed; a large one lies under `result_key` instead. */
  result: BytesOrNull;
  result_key: TextOrNull;
  error: ColumnType<unknown, string | null | undefined, string | null>;
  usage: ColumnType<unknown, string | null | undefined, string | null>;
  provider_deletion: Generated<"none" | "pending" | "done" | "failed">;
  created_at: TimeWithDefault;
  started_at: TimeOrNull;
  deadline_at: Time;
  finished_at: TimeOrNull;
  expires_at: TimeOrNull;
  purged_at: TimeOrNull;
}

interface WebhookEventsTable {
  id: string;
  workspace_id: string;
  app_id: string;
  job_id: string;
  type: string;
  status: "succeeded" | "failed" | "cancelled";
  occurred_at: Time;
}

/** The completion webhook of a workspace; `sealed_url`, `secret` and `previous_secret` are sealed. */
interface WebhooksTable {
  workspace_id: string;
  /** Only of rows that are older than `sealed_url`, until a start has sealed them. */
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

interface WebhookDeliveriesTable {
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

interface WebhookAttemptsTable {
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

interface ProviderDeletionsTable {
  id: string;
  workspace_id: string;
  app_id: string;
  subject: string;
  account: string;
  provider: string;
  test_mode: boolean;
  run: Json;
  state: Generated<"pending" | "done" | "failed">;
  attempts: Generated<number>;
  next_at: Time;
  last_failure: TextOrNull;
  created_at: TimeWithDefault;
  finished_at: TimeOrNull;
}

interface RequestsTable {
  id: string;
  /** Null, with the key: the request came without a valid one. */
  workspace_id: TextOrNull;
  /** Null for keys that belong to no app, which are refused. */
  app_id: TextOrNull;
  key_id: TextOrNull;
  endpoint: string;
  at: Time;
  status: number;
  code: TextOrNull;
  test_mode: boolean;
  asked: ColumnType<unknown, string | null, never>;
  purpose: ColumnType<unknown, string | null, never>;
  route: TextOrNull;
  /** The version of the route that was in force. */
  route_version: NumberOrNull;
  refusal: TextOrNull;
  candidates: ColumnType<unknown, string | null, never>;
  key_use: string;
  duration_ms: Bigint;
  audio_ms: BigintOrNull;
  job_id: TextOrNull;
  recorded_at: TimeWithDefault;
}

interface UsageSums {
  workspace_id: string;
  app_id: string;
  key_id: TextOrNull;
  purpose: TextOrNull;
  provider: string;
  model: string;
  billing_class: "metered" | "provider_billed" | "simulated";
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

/** Of the settlement. */
interface UsageHoursTable extends UsageSums {
  hour: Time;
}

interface UsageDaysTable extends UsageSums {
  day: Time;
}

interface UsageProgressTable {
  /** One row, 1. */
  id: number;
  /** Everything settled before it is in the hours. */
  rolled_until: Time;
  barrier_at: TimeOrNull;
  /** Transactions up to this number may still settle before the barrier. */
  barrier_xid: TextOrNull;
}

/** Written and taken by SQL of their own. */
export interface RealtimeTokensTable {
  token_hash: Buffer;
  workspace_id: string;
  app_id: string | null;
  key_id: string;
  test_mode: boolean;
  expires_at: Date;
}

interface DataKeysTable {
  /** `platform` or a workspace id. */
  scope: string;
  version: number;
  /** Sealed by the key ring. */
  wrapped: Bytes;
  created_at: TimeWithDefault;
}

export interface Tables {
  data_keys: DataKeysTable;
  workspaces: WorkspacesTable;
  apps: AppsTable;
  api_keys: ApiKeysTable;
  connections: ConnectionsTable;
  routes: RoutesTable;
  route_versions: RouteVersionsTable;
  directory_state: DirectoryStateTable;
  prices: PricesTable;
  budgets: BudgetsTable;
  budget_windows: BudgetWindowsTable;
  idempotency_slots: IdempotencySlotsTable;
  attempts: AttemptsTable;
  usage_hours: UsageHoursTable;
  usage_days: UsageDaysTable;
  usage_progress: UsageProgressTable;
  plans: PlansTable;
  budget_leases: BudgetLeasesTable;
  jobs: JobsTable;
  webhook_events: WebhookEventsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  webhook_attempts: WebhookAttemptsTable;
  provider_deletions: ProviderDeletionsTable;
  requests: RequestsTable;
  audio_url_domains: AudioUrlDomainsTable;
  audit_log: AuditLogTable;
  audit_heads: AuditHeadsTable;
  credit_grants: CreditGrantsTable;
  realtime_tokens: RealtimeTokensTable;
}

export type JobRow = Selectable<JobsTable>;
export type RouteRow = Selectable<RoutesTable>;
export type RouteVersionRow = Selectable<RouteVersionsTable>;
export type ConnectionRow = Selectable<ConnectionsTable>;
export type RequestRow = Selectable<RequestsTable>;
export type AttemptRow = Selectable<AttemptsTable>;
