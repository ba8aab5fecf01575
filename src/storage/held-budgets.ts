// Locks budgets and reads what their windows hold, in one statement.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { WINDOW_COLUMNS, WINDOW_OF_NOW, type WindowRow } from "./budget-windows.ts";
import { type AppOf, BUDGET_COLUMNS, type BudgetRow, waysTo } from "./budgets.ts";
import { PREPARED } from "./prepared.ts";
import type { Tables } from "./tables.ts";

type Handle = Kysely<Tables>;

/** Budgets that are held, and what their windows hold. */
export interface HeldWindows {
  readonly rows: readonly BudgetRow[];
  readonly windows: readonly WindowRow[];
}

/**
 * Holds what `lockBudgetsOf` holds, and tells what their windows hold now: of windows that another transaction is changing it waits for
 * the outcome.
 * Null: one of them has no window yet, and nothing is to be concluded.
 */
export async function holdBudgets(tx: Handle, apps: readonly AppOf[]): Promise<HeldWindows | null> {
  const { rows } = await sql<HeldRow>`${PREPARED} with ${holding(apps)}
    select ${HELD} from ${COUNTED} left join held on true order by held.id`.execute(tx);
  return allHeld(rows);
}

/** A row for each budget that is held, or one that tells only how many are `wanted`. */
export type HeldRow = { readonly wanted: bigint } & (BudgetAndWindow | { readonly id: null });
type BudgetAndWindow = BudgetRow & WindowRow;

/** Parts of a `with`: `asked`, the budgets of these apps and those that `more` names, and `held`, those of them that have a window. */
export function holding(apps: readonly AppOf[], more: RawBuilder<unknown> | null = null): RawBuilder<unknown> {
  const ways = [...waysTo(apps, []), ...(more === null ? [] : [more])];
  return sql`asked as materialized (${sql.join(ways, sql` union all `)}),
      held as materialized (select ${BUDGET_COLUMNS}, ${WINDOW_COLUMNS}
        from budgets b join budget_windows w on ${WINDOW_OF_NOW}
        where b.id = any(${ASKED}) order by b.id for update of b, w)`;
}

/** The server expects few values of an array, and a hundred rows of a function: for so many it would rather read the whole table. */
const ASKED = sql.raw("array(select id from asked)");

/** Of statements with `holding` parts. */
export const COUNTED = sql`(select count(*) as wanted from budgets where id = any(${ASKED})) as counted`;
export const HELD = sql`counted.wanted, held.*`;

export function allHeld(rows: readonly HeldRow[]): HeldWindows | null {
  const held = rows.filter((row) => row.id !== null);
  return BigInt(held.length) === rows[0]?.wanted ? { rows: held, windows: held } : null;
}
