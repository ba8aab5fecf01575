// An app's budgets with what their current windows hold, for showing and for judging.
import type { Kysely } from "kysely";
import type { AppId, WorkspaceId } from "../contract/ids.ts";
import { readWindows, type WindowRow } from "../storage/budget-windows.ts";
import { type BudgetRow, readBudgets, readBudgetsOfApps } from "../storage/budgets.ts";
import type { Tables } from "../storage/tables.ts";
import { type BudgetState, limitMs, resetsAt, windowStart } from "./budget.ts";

export async function readBudgetStates(
  db: Kysely<Tables>,
  workspaceId: WorkspaceId,
  appId: AppId,
): Promise<readonly BudgetState[]> {
  return withWindows(db, await readBudgets(db, [{ workspaceId, appId }]));
}

/** Of a workspace's apps, or of one of them. */
export async function readBudgetsByApp(
  db: Kysely<Tables>,
  workspaceId: WorkspaceId,
  appId: AppId | null,
): Promise<readonly { readonly appId: string; readonly budget: BudgetState }[]> {
  const rows = await readBudgetsOfApps(db, workspaceId, appId);
  const appOf = new Map(rows.map((row) => [row.id, row.app_id]));
  const budgets = await withWindows(db, rows);
  return budgets.flatMap((budget) => {
    const app = appOf.get(budget.id);
    return app === undefined ? [] : [{ appId: app, budget }];
  });
}

/** In the order of the rows. The time is the database's, read with them. */
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
