// Checks whether the expected cost of a request (a quote) fits its budgets now, without reserving anything [budgets.dry-run].
import type { Kysely } from "kysely";
import { sumLeased } from "./store/budget-leases.ts";
import { type AppOf, readBudgets } from "./store/budgets.ts";
import type { Tables } from "../storage/schema/tables.ts";
import { type Amounts, type BudgetExceeded, judgeBudget } from "./budget.ts";
import { withWindows } from "./read-budgets.ts";

export interface Quote {
  readonly owner: AppOf;
  readonly amounts: Amounts;
}

/** Counts what leases hold in advance as free, although calls in flight may use some of it. */
export async function judgeQuote(db: Kysely<Tables>, { owner, amounts }: Quote): Promise<BudgetExceeded | null> {
  const budgets = await withWindows(db, await readBudgets(db, [owner]));
  if (budgets.length === 0) return null;
  const leaseSums = await sumLeased(db, owner.workspaceId);
  const verdicts = budgets.map((budget) => {
    const leaseSum = leaseSums.find(
      (sum) => sum.budget_id === budget.id && sum.window_start.getTime() === budget.windowStart.getTime(),
    );
    const free = {
      ...budget,
      reservedNanoUsd: budget.reservedNanoUsd - (leaseSum?.nano_usd ?? 0n),
      reservedTokens: budget.reservedTokens - (leaseSum?.tokens ?? 0n),
    };
    return judgeBudget(free, amounts);
  });
  return verdicts.find((verdict) => verdict !== null) ?? null;
}
