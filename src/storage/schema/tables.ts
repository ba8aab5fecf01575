// Types of all tables for Kysely. The migrations define the schema, and schema.sql shows the result.
import type { ColumnType, Generated, Selectable } from "kysely";
import type {
  Bigint,
  BigintOrNull,
  Bytes,
  BytesOrNull,
  JsonWithDefault,
  NumberOrNull,
  TextOrNull,
  Time,
  TimeOrNull,
  TimeWithDefault,
} from "./columns.ts";
import type { AlertCausesTable, AlertDeliveriesTable } from "./tables-alerts.ts";
import type {
  AuditHeadsTable,
  AuditLogTable,
  AudioUrlDomainsTable,
  CreditGrantsTable,
  PlansTable,
  PricesTable,
} from "./tables-administration.ts";
import type {
  ConnectionPausesTable,
  ConnectionsTable,
  DirectoryStateTable,
  ModelListsTable,
  RoutesTable,
  RouteVersionsTable,
} from "./tables-directory.ts";
import type { JobsTable, ProviderDeletionsTable, SpentAudioTable } from "./tables-jobs.ts";
import type {
  AttemptsTable,
  BudgetLeasesTable,
  BudgetsTable,
  BudgetWindowsTable,
  UsageDaysTable,
  UsageHoursTable,
  UsageProgressTable,
} from "./tables-metering.ts";
import type {
  WebhookAttemptsTable,
  WebhookDeliveriesTable,
  WebhookEventsTable,
  WebhooksTable,
} from "./tables-webhooks.ts";

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
  /** The key that this key replaces. */
  replaces: TextOrNull;
}

interface IdempotencySlotsTable {
  app_id: string;
  key_sha256: Bytes;
  workspace_id: string;
  endpoint: string;
  fingerprint: Bytes;
  state: "reserved" | "dispatched" | "completed" | "burned";
  /** A fencing token, new for each claim: every later write is conditional on it. */
  owner: string;
  lease_until: Time;
  status: ColumnType<number | null, number | null | undefined, number | null>;
  headers: ColumnType<unknown, string | null | undefined, string | null>;
  body: BytesOrNull;
  created_at: Time;
  expires_at: Time;
}

interface RequestsTable {
  id: string;
  /** Null, together with the key: the request had no valid key. */
  workspace_id: TextOrNull;
  /** Null: the key belongs to no app, so the request was refused. */
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
  /** The route version that was applied. */
  route_version: NumberOrNull;
  refusal: TextOrNull;
  candidates: ColumnType<unknown, string | null, never>;
  key_use: string;
  duration_ms: Bigint;
  audio_ms: BigintOrNull;
  job_id: TextOrNull;
  recorded_at: TimeWithDefault;
}

/** Accessed by handwritten SQL only. */
interface RealtimeTokensTable {
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

/** At most one row. */
interface KeyPepperTable {
  id: Generated<boolean>;
  mark: Bytes;
  set_at: TimeWithDefault;
}

export interface Tables {
  data_keys: DataKeysTable;
  workspaces: WorkspacesTable;
  apps: AppsTable;
  api_keys: ApiKeysTable;
  key_pepper: KeyPepperTable;
  connections: ConnectionsTable;
  connection_pauses: ConnectionPausesTable;
  model_lists: ModelListsTable;
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
  spent_audio: SpentAudioTable;
  webhook_events: WebhookEventsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  webhook_attempts: WebhookAttemptsTable;
  alert_causes: AlertCausesTable;
  alert_deliveries: AlertDeliveriesTable;
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
export type ConnectionPauseRow = Selectable<ConnectionPausesTable>;
export type RequestRow = Selectable<RequestsTable>;
export type AttemptRow = Selectable<AttemptsTable>;
