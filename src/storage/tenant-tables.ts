// Which tables hold rows of workspaces, and which column names the owner [tenancy.rls-tables]. The policies of `storage/protect.ts` are
// built from this list; a test fails for a workspace's table that is not in it.

export interface TenantTable {
  readonly table: string;
  /** True of the rows of the workspace that the transaction is bound to. */
  readonly own: string;
  /** True of further rows that every workspace may read, and none may write. */
  readonly shared?: string;
}

/** Asked once a statement, and not once a row. Unset or empty it is nobody's id: no row matches. */
const BOUND = "(select current_setting('patchbay.workspace', true))";

const byColumn = (column: string) => (table: string) => ({ table, own: `${column} = ${BOUND}` });
const byWorkspaceId = byColumn("workspace_id");
/** `platform` or a workspace's id. */
const byScope = byColumn("scope");

export const TENANT_TABLES: readonly TenantTable[] = [
  { table: "workspaces", own: `id = ${BOUND}` },
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
  // The budget's own policy holds inside.
  { table: "budget_windows", own: "budget_id in (select id from budgets)" },
  ...["audit_heads", "connection_pauses", "data_keys", "route_versions"].map(byScope),
  // What a workspace's own routes may name. A platform credential is sealed under the platform's data key, which is not shared.
  ...["audio_url_domains", "connections", "routes"].map((table) => ({
    ...byScope(table),
    shared: "scope = 'platform'",
  })),
];

/** The same for everybody; a workspace may read them. */
export const SHARED_TABLES: readonly string[] = ["directory_state", "plans", "prices", "usage_progress"];

/** The installation's own: nothing of them is granted to a workspace. */
export const SYSTEM_TABLES: readonly string[] = ["key_pepper"];
