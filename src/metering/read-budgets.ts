// Reads an app's budgets with the usage of their current windows.
import type { Kysely } from "kysely";
import type { AppId, WorkspaceId } from "../contract/ids.ts";
import { sumLeased } from "./store/budget-leases.ts";
import { readWindows, windowId, type WindowRow } from "./store/budget-windows.ts";
import { type BudgetRow, readBudgets, readBudgetsOfApps } from "./store/budgets.ts";
import type { Tables } from "../storage/schema/tables.ts";
import { type BudgetState, limitMs, resetsAt, windowStart } from "./budget.ts";

export async function readBudgetStates(
  db: Kysely<Tables>,
  workspaceId: WorkspaceId,
  appId: AppId,
): Promise<readonly BudgetState[]> {
  return withLeased(db, workspaceId, await withWindows(db, await readBudgets(db, [{ workspaceId, appId }])));
}

async function withLeased(
  db: Kysely<Tables>,
  workspaceId: WorkspaceId,
  budgets: readonly BudgetState[],
): Promise<readonly BudgetState[]> {
  const leasedByWindow = new Map(
    (await sumLeased(db, workspaceId)).map((sum) => [
      windowId({ budgetId: sum.budget_id, windowStart: sum.window_start }),
      { nanoUsd: sum.nano_usd, tokens: sum.tokens },
    ]),
  );
  return budgets.map((budget) => {
    const leased = leasedByWindow.get(windowId({ budgetId: budget.id, windowStart: budget.windowStart }));
    return leased === undefined ? budget : { ...budget, leased };
  });
}

/** Reads the budgets of all apps of a workspace, or of one. */
export async function readBudgetsByApp(
  db: Kysely<Tables>,
  workspaceId: WorkspaceId,
  appId: AppId | null,
): Promise<readonly { readonly appId: string; readonly budget: BudgetState }[]> {
  const rows = await readBudgetsOfApps(db, workspaceId, appId);
  const appOf = new Map(rows.map((row) => [row.id, row.app_id]));
  const budgets = await withLeased(db, workspaceId, await withWindows(db, rows));
  return budgets.flatMap((budget) => {
    const app = appOf.get(budget.id);
    return app === undefined ? [] : [{ appId: app, budget }];
  });
}

/** Returns the budgets in the order of the rows. The time is the database's, read with them. */
export async function withWindows(db: Kysely<Tables>, budgets: readonly BudgetRow[]): Promise<readonly BudgetState[]> {
  const windows = await readWindows(
    db,
    budgets.map((budget) => ({ budgetId: budget.id, windowStart: windowStart(budget.period, budget.now) })),
  );
  return statesOf(budgets, windows);
}

export function statesOf(budgets: readonly BudgetRow[], windows: readonly WindowRow[]): readonly BudgetState[] {
  const byBudget = new Map(windows.map((window) => [window.budget_id, window]));
  return budgets.map((budget) => {
    const window = byBudget.get(budget.id);
    return {
      id: budget.id,
      kind: budget.kind,
      period: budget.period,
      limitNanoUsd: budget.limit_nano_usd,
      limitAudioMs: limitMs(budget.limit_audio_seconds),
      limitTokens: budget.limit_tokens,
      softLimit: budget.soft_limit === null ? null : Number(budget.soft_limit),
      spentNanoUsd: window?.spent_nano_usd ?? 0n,
      reservedNanoUsd: window?.reserved_nano_usd ?? 0n,
      spentAudioMs: window?.spent_audio_ms ?? 0n,
      reservedAudioMs: window?.reserved_audio_ms ?? 0n,
      spentTokens: window?.spent_tokens ?? 0n,
      reservedTokens: window?.reserved_tokens ?? 0n,
      windowStart: windowStart(budget.period, budget.now),
      resetsAt: resetsAt(budget.period, budget.now),
      readAt: budget.now,
    };
  });
}
