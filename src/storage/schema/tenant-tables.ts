// Lists the tables with workspaces' rows and the column that names the owner [tenancy.rls-tables]. The policies in `storage/schema/protect.ts` are built
// from it, and a test fails if a workspace's table is missing.

export interface TenantTable {
  readonly table: string;
  /** SQL condition for rows of the workspace that the transaction is bound to. */
  readonly own: string;
  /** SQL condition for further rows that every workspace may read but not write. */
  readonly shared?: string;
}

/** A subquery, so that it is evaluated once per statement instead of per row. Unset or empty, it matches no row. */
const BOUND = "(select current_setting('patchbay.workspace', true))";

const byColumn = (column: string) => (table: string) => ({ table, own: `${column} = ${BOUND}` });
const byWorkspaceId = byColumn("workspace_id");
/** `platform` or a workspace's id. */
const byScope = byColumn("scope");

export const TENANT_TABLES: readonly TenantTable[] = [
  { table: "workspaces", own: `id = ${BOUND}` },
  // Rows without a workspace are the operator's: no workspace sees them.
  ...["alert_causes", "alert_deliveries"].map(byWorkspaceId),
  ...[
    "api_keys",
    "apps",
    "attempts",
    "audit_log",
    "budget_leases",
    "budgets",
    "credit_grants",
    "idempotency_slots",
    "jobs",
    "provider_deletions",
    "quota_counts",
    "realtime_tokens",
    "requests",
    "usage_days",
    "usage_hours",
    "webhook_attempts",
    "webhook_deliveries",
    "webhook_events",
    "webhooks",
  ].map(byWorkspaceId),
  // The policy of `budgets` applies inside the subquery. A scalar one is looked up for each row: `in` read every budget of the workspace first, 10 ms of 10,000 apps.
  { table: "budget_windows", own: "(select true from budgets where id = budget_id)" },
  ...["audit_heads", "connection_pauses", "data_keys", "model_lists", "route_versions"].map(byScope),
  // Shared objects that a workspace's routes may reference. A shared connection's credential is sealed with a data key that workspaces cannot read.
  ...["audio_url_domains", "connections", "routes"].map((table) => ({
    ...byScope(table),
    shared: "scope = 'platform'",
  })),
];

/** Shared tables that every workspace may read. */
export const SHARED_TABLES: readonly string[] = ["directory_state", "plans", "prices", "usage_progress"];

/** Tables of the installation that workspaces may not access. */
export const SYSTEM_TABLES: readonly string[] = ["key_pepper", "spent_audio"];
