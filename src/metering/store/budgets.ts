// Reads and locks the budgets of apps and of plans. A transaction that changes their windows locks their rows, in id order.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AppId, WorkspaceId } from "../../contract/ids.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { Funding } from "../../storage/schema/tables-metering.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type Handle = Kysely<Tables>;

/** Selects the app's budgets, and with `funding` also its workspace's plan budgets. */
export interface AppOf {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly funding?: Funding | undefined;
}

export interface BudgetRow {
  readonly id: string;
  readonly workspace_id: string;
  /** Null: the budget belongs to the whole workspace. */
  readonly app_id: string | null;
  readonly kind: "budget" | "allowance" | "credits";
  readonly period: "day" | "month" | "total";
  readonly limit_nano_usd: bigint | null;
  readonly limit_audio_seconds: string | null;
  readonly limit_tokens: bigint | null;
  readonly soft_limit: string | null;
  /** The time by the database's clock. */
  readonly now: Date;
}

export async function readBudgets(db: Handle, apps: readonly AppOf[]): Promise<readonly BudgetRow[]> {
  return (await selectBudgets(apps, [], sql``).execute(db)).rows;
}

/** Budgets of all apps of a workspace, or of one app. */
export async function readBudgetsOfApps(
  db: Handle,
  workspaceId: WorkspaceId,
  appId: AppId | null,
): Promise<readonly (BudgetRow & { readonly app_id: string })[]> {
  const { rows } = await sql<BudgetRow & { readonly app_id: string }>`select ${BUDGET_COLUMNS} from budgets b
    where b.workspace_id = ${workspaceId} and b.kind = 'budget' and (${appId}::text is null or b.app_id = ${appId})
    order by b.app_id, b.period`.execute(db);
  return rows;
}

/**
 * Locks budgets until the transaction ends, so that reservations on one app's budgets are serialized across processes. `ids` names other budgets
 * to lock with them.
 */
export async function lockBudgetsOf(
  tx: Handle,
  apps: readonly AppOf[],
  ids: readonly string[] = [],
): Promise<readonly BudgetRow[]> {
  return (await selectBudgets(apps, ids, sql`for update of b`).execute(tx)).rows;
}

export async function lockBudgets(tx: Handle, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`${PREPARED} select id from budgets where id = any(array(select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))) order by id for update`.execute(
    tx,
  );
}

export const BUDGET_COLUMNS = sql.raw(
  "b.id, b.workspace_id, b.app_id, b.kind, b.period, b.limit_nano_usd, b.limit_audio_seconds, b.limit_tokens, b.soft_limit, patchbay_now() as now",
);

function selectBudgets(apps: readonly AppOf[], ids: readonly string[], locking: RawBuilder<unknown>) {
  return sql<BudgetRow>`${PREPARED}
    select ${BUDGET_COLUMNS} from budgets b where b.id = any(array(${sql.join(waysTo(apps, ids), sql` union all `)})) order by b.id ${locking}`;
}

/**
 * Subqueries that return budget ids, one per index. Each `any` repeats its join for the planner's estimate: PostgreSQL expects few values of an
 * array but a hundred rows of a function, for which it would scan the whole table.
 */
export function waysTo(apps: readonly AppOf[], ids: readonly string[]) {
  return [
    ...(ids.length === 0 ? [] : [sql`select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) as id`]),
    ...(apps.length === 0 ? [] : [ownBudgets(apps)]),
    ...(apps.some((app) => app.funding !== undefined && app.funding !== "none") ? [planBudgets(apps)] : []),
  ];
}

function ownBudgets(apps: readonly AppOf[]) {
  const owners = apps.map(({ workspaceId, appId }) => ({ workspace_id: workspaceId, app_id: appId }));
  return sql`(with asked as materialized (select * from jsonb_to_recordset(${JSON.stringify(owners)}::jsonb) as asked (workspace_id text, app_id text))
    select own.id from budgets own join asked on own.app_id = asked.app_id and own.workspace_id = asked.workspace_id
    where own.app_id = any(array(select app_id from asked)))`;
}

function planBudgets(apps: readonly AppOf[]) {
  const owners = apps.map(({ workspaceId, funding }) => ({ workspace_id: workspaceId, kind: funding }));
  return sql`(with asked as materialized (select * from jsonb_to_recordset(${JSON.stringify(owners)}::jsonb) as asked (workspace_id text, kind text))
    select of_plan.id from budgets of_plan join asked on of_plan.workspace_id = asked.workspace_id and of_plan.kind = asked.kind
    where of_plan.kind <> 'budget' and of_plan.workspace_id = any(array(select workspace_id from asked)))`;
}
