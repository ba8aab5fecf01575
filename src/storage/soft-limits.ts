// Which budgets have reached their soft limit, or their limit, in their current windows, and which of them were logged
// [budgets.soft-limit-log].
import { type Kysely, type RawBuilder, sql } from "kysely";
import { WINDOW_COLUMNS, WINDOW_OF_NOW, type WindowRow } from "./budget-windows.ts";
import { BUDGET_COLUMNS, type BudgetRow, lockBudgets } from "./budgets.ts";
import type { Transacting } from "./database.ts";
import type { Tables } from "./tables.ts";

type Handle = Kysely<Tables>;

/** By what is spent, as `metering/budget.ts` judges: what is only held may come back, and of a limit of nothing nothing is spent. */
const hasSpent = (part: RawBuilder<unknown>) => sql`coalesce(
  (w.spent_nano_usd > 0 and w.spent_nano_usd >= b.limit_nano_usd * ${part})
  or (w.spent_audio_ms > 0 and w.spent_audio_ms >= b.limit_audio_seconds * 1000 * ${part})
  or (w.spent_tokens > 0 and w.spent_tokens >= b.limit_tokens * ${part}), false)`;

const IS_SOFTLY_REACHED = hasSpent(sql`b.soft_limit`);
const IS_EXHAUSTED = hasSpent(sql`1`);
/** Where a limit was raised since, the mark goes, and whoever raised it is told again. */
const IS_NEWS = sql`b.kind = 'budget' and (w.soft_limit_told_at is not null) <> ${IS_SOFTLY_REACHED}`;

/**
 * Each budget with its window of now, where it has one, found by its key: joined otherwise, every window that there ever was is read, and of
 * 10,000 daily budgets those of 100 days take half a second.
 */
const BUDGETS_AND_WINDOWS = sql`budgets b left join lateral (select * from budget_windows w where ${WINDOW_OF_NOW} offset 0) w on true`;

/** Budgets whose mark is no longer right. Nothing is locked. */
export async function findReachedSoftLimits(db: Handle): Promise<readonly string[]> {
  const { rows } = await sql<{
    id: string;
  }>`select b.id from ${BUDGETS_AND_WINDOWS} where ${IS_NEWS} order by b.id`.execute(db);
  return rows.map(({ id }) => id);
}

export type SoftLimitReached = BudgetRow & WindowRow & { readonly workspace: string; readonly app: string };

/** Sets its mark right. What is to be told, once over all processes; null: nothing, or another was first. */
export async function markSoftLimit(tx: Transacting, budgetId: string): Promise<SoftLimitReached | null> {
  await lockBudgets(tx, [budgetId]);
  const { rows } = await sql<SoftLimitReached & { readonly is_told: boolean }>`
    update budget_windows w set soft_limit_told_at = case when ${IS_SOFTLY_REACHED} then patchbay_now() end
    from budgets b join workspaces on workspaces.id = b.workspace_id join apps on apps.id = b.app_id
    where b.id = ${budgetId} and ${WINDOW_OF_NOW} and ${IS_NEWS}
    returning ${BUDGET_COLUMNS}, ${WINDOW_COLUMNS}, workspaces.slug as workspace, apps.slug as app,
      w.soft_limit_told_at is not null as is_told`.execute(tx);
  const [row] = rows;
  return row?.is_told === true ? row : null;
}

const STATES = ["below_soft_limit", "soft_limit_reached", "exhausted"] as const;

/** How many budgets of apps are in each state; what plans pay from has no soft limit, and is not counted. */
export async function budgetsByState(
  db: Handle,
): Promise<readonly { readonly labels: readonly string[]; readonly value: number }[]> {
  const [below, reached, exhausted] = STATES.map((state) => sql.lit(state));
  const { rows } = await sql<{ state: string; value: string }>`
    select case when ${IS_EXHAUSTED} then ${exhausted} when ${IS_SOFTLY_REACHED} then ${reached} else ${below} end as state, count(*)::text as value
    from ${BUDGETS_AND_WINDOWS} where b.kind = 'budget' group by 1`.execute(db);
  const counted = new Map(rows.map(({ state, value }) => [state, Number(value)]));
  return STATES.map((state) => ({ labels: [state], value: counted.get(state) ?? 0 }));
}
