// Finds budgets that have reached their soft or hard limit in their current windows, and marks those that were logged [budgets.soft-limit-log].
import { type RawBuilder, sql } from "kysely";
import { WINDOW_COLUMNS, WINDOW_OF_NOW, type WindowRow } from "./budget-windows.ts";
import { BUDGET_COLUMNS, type BudgetRow, lockBudgets } from "./budgets.ts";
import type { SystemHandle, SystemTransaction } from "../../storage/database.ts";

/** Compares what is spent, as `metering/budget.ts` does. Reservations do not count, because they may be released. Zero limits never count. */
const hasSpent = (part: RawBuilder<unknown>) => sql`coalesce(
  (w.spent_nano_usd > 0 and w.spent_nano_usd >= b.limit_nano_usd * ${part})
  or (w.spent_audio_ms > 0 and w.spent_audio_ms >= b.limit_audio_seconds * 1000 * ${part})
  or (w.spent_tokens > 0 and w.spent_tokens >= b.limit_tokens * ${part}), false)`;

const IS_SOFTLY_REACHED = hasSpent(sql`b.soft_limit`);
const IS_EXHAUSTED = hasSpent(sql`1`);
/** The mark differs from the state. If a limit was raised, the mark is removed, so that reaching it again is logged again. */
const IS_MARK_STALE = sql`b.kind = 'budget' and (w.soft_limit_told_at is not null) <> ${IS_SOFTLY_REACHED}`;

/**
 * Each budget with its current window, if any, found by key. An ordinary join would read all windows that ever existed: for 10,000 daily budgets
 * and 100 days half a second.
 */
const BUDGETS_AND_WINDOWS = sql`budgets b left join lateral (select * from budget_windows w where ${WINDOW_OF_NOW} offset 0) w on true`;

/** Budgets with a stale mark. Locks nothing. */
export async function findReachedSoftLimits(db: SystemHandle): Promise<readonly string[]> {
  const { rows } = await sql<{
    id: string;
  }>`select b.id from ${BUDGETS_AND_WINDOWS} where ${IS_MARK_STALE} order by b.id`.execute(db);
  return rows.map(({ id }) => id);
}

export type SoftLimitReached = BudgetRow & WindowRow & { readonly workspace: string; readonly app: string };

/** Updates the mark. Returns what to log, once over all processes; null: nothing, or another process was first. */
export async function markSoftLimit(tx: SystemTransaction, budgetId: string): Promise<SoftLimitReached | null> {
  await lockBudgets(tx, [budgetId]);
  const { rows } = await sql<SoftLimitReached & { readonly is_told: boolean }>`
    update budget_windows w set soft_limit_told_at = case when ${IS_SOFTLY_REACHED} then patchbay_now() end
    from budgets b join workspaces on workspaces.id = b.workspace_id join apps on apps.id = b.app_id
    where b.id = ${budgetId} and ${WINDOW_OF_NOW} and ${IS_MARK_STALE}
    returning ${BUDGET_COLUMNS}, ${WINDOW_COLUMNS}, workspaces.slug as workspace, apps.slug as app,
      w.soft_limit_told_at is not null as is_told`.execute(tx);
  const [row] = rows;
  return row?.is_told === true ? row : null;
}

export interface ReachedBudget extends BudgetRow, WindowRow {
  readonly app_id: string;
  readonly workspace: string;
  readonly app: string;
  /** Whether what is spent has reached the soft limit or the limit. */
  readonly is_reached: boolean;
  readonly is_exhausted: boolean;
  /** Whether its app is one of those that were refused. */
  readonly is_refused: boolean;
}

/** Apps' budgets that reached a limit in their current windows, and all of the given apps. By id, after another one. */
export async function listReachedBudgets(
  db: SystemHandle,
  {
    refusedApps,
    after,
    limit,
  }: { readonly refusedApps: readonly string[]; readonly after: string; readonly limit: number },
): Promise<readonly ReachedBudget[]> {
  const isReached = sql`(${IS_SOFTLY_REACHED} or ${IS_EXHAUSTED})`;
  const isRefused = sql`b.app_id = any(${refusedApps}::text[])`;
  const { rows } = await sql<ReachedBudget>`
    select ${BUDGET_COLUMNS}, ${WINDOW_COLUMNS}, workspaces.slug as workspace, apps.slug as app,
      ${isReached} as is_reached, ${IS_EXHAUSTED} as is_exhausted, ${isRefused} as is_refused
    from ${BUDGETS_AND_WINDOWS} join workspaces on workspaces.id = b.workspace_id join apps on apps.id = b.app_id
    where b.kind = 'budget' and b.id > ${after} and (${isReached} or ${isRefused}) order by b.id limit ${limit}`.execute(
    db,
  );
  return rows;
}

const STATES = ["below_soft_limit", "soft_limit_reached", "exhausted"] as const;

/** Counts apps' budgets per state. Plan budgets have no soft limit and are not counted. */
export async function budgetsByState(
  db: SystemHandle,
): Promise<readonly { readonly labels: readonly string[]; readonly value: number }[]> {
  const [below, reached, exhausted] = STATES.map((state) => sql.lit(state));
  const { rows } = await sql<{ state: string; value: string }>`
    select case when ${IS_EXHAUSTED} then ${exhausted} when ${IS_SOFTLY_REACHED} then ${reached} else ${below} end as state, count(*)::text as value
    from ${BUDGETS_AND_WINDOWS} where b.kind = 'budget' group by 1`.execute(db);
  const counts = new Map(rows.map(({ state, value }) => [state, Number(value)]));
  return STATES.map((state) => ({ labels: [state], value: counts.get(state) ?? 0 }));
}
