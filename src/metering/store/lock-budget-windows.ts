// Locks budgets and reads their current windows, in one statement.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { WINDOW_COLUMNS, WINDOW_OF_NOW, type WindowRow } from "./budget-windows.ts";
import { type AppOf, BUDGET_COLUMNS, type BudgetRow, waysTo } from "./budgets.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type Handle = Kysely<Tables>;

/** Locked budgets and their current windows. */
export interface LockedWindows {
  readonly rows: readonly BudgetRow[];
  readonly windows: readonly WindowRow[];
}

/**
 * Locks what `lockBudgetsOf` locks, and returns the current windows. Waits for other transactions that are changing these windows. Null: one of
 * the budgets has no window yet, so the result is incomplete.
 */
export async function lockBudgetWindows(tx: Handle, apps: readonly AppOf[]): Promise<LockedWindows | null> {
  const { rows } = await sql<LockedRow>`${PREPARED} with ${lockingQueries(apps)}
    select ${LOCKED_COLUMNS} from ${WANTED_COUNT} left join held on true order by held.id`.execute(tx);
  return lockedWindowsOf(rows);
}

/** A row per locked budget, or a single row with only the number of `wanted` budgets. */
export type LockedRow = { readonly wanted: bigint } & (BudgetAndWindow | { readonly id: null });
type BudgetAndWindow = BudgetRow & WindowRow;

/** Parts of a `with` clause: `asked`, the budgets of these apps and those that `more` selects, and `held`, those of them with a window. */
export function lockingQueries(apps: readonly AppOf[], more: RawBuilder<unknown> | null = null): RawBuilder<unknown> {
  const queries = [...waysTo(apps, []), ...(more === null ? [] : [more])];
  return sql`asked as materialized (${sql.join(queries, sql` union all `)}),
      held as materialized (select ${BUDGET_COLUMNS}, ${WINDOW_COLUMNS}
        from budgets b join budget_windows w on ${WINDOW_OF_NOW}
        where b.id = any(${ASKED}) order by b.id for update of b, w)`;
}

/** An array, for the planner: PostgreSQL expects few values of an array but a hundred rows of a function, for which it would scan the table. */
const ASKED = sql.raw("array(select id from asked)");

/** For statements with the `lockingQueries` parts. */
export const WANTED_COUNT = sql`(select count(*) as wanted from budgets where id = any(${ASKED})) as counted`;
export const LOCKED_COLUMNS = sql`counted.wanted, held.*`;

export function lockedWindowsOf(rows: readonly LockedRow[]): LockedWindows | null {
  const held = rows.filter((row) => row.id !== null);
  return BigInt(held.length) === rows[0]?.wanted ? { rows: held, windows: held } : null;
}
