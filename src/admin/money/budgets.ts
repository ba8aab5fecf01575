// Budgets of an app, one per period [budgets.change]. A change locks the row that every reservation locks, so that a new limit applies from the next
// reservation on.
import type { BudgetView } from "../../contract/admin/budgets.ts";
import { brand, type WorkspaceId } from "../../contract/ids.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import { describeForecast } from "../../gateway/account/describe-forecast.ts";
import { reachesSoftLimit } from "../../metering/budget.ts";
import { readBudgetStates } from "../../metering/read-budgets.ts";
import { formatUsd, parseUsd } from "../../metering/money.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import {
  deleteBudgetRow,
  listAppBudgets,
  lockAppBudget,
  readAppBudget,
  type StoredBudget,
} from "../../metering/store/app-budgets.ts";
import { upsertBudget } from "../../metering/store/upsert-budget.ts";
import { auditChange } from "../audit/audit-change.ts";
import { findApp, holdApp, type AppRef } from "../apps.ts";
import { refuseManagedByFile, shownManager } from "../refuse-managed.ts";
import { allowMatch, type Precondition, requireMatch } from "../precondition.ts";
import { noSuch } from "../refusals.ts";
import type { AdminServices } from "../services.ts";

export type Period = BudgetView["period"];

export interface BudgetRef extends AppRef {
  readonly period: Period;
}

export interface LimitsInput {
  readonly limit_usd: string | null;
  readonly limit_audio_seconds: number | null;
  readonly limit_tokens: number | null;
  readonly soft_limit: number | null;
}

export async function listBudgets(
  { database }: AdminServices,
  { workspaceId, app }: AppRef,
): Promise<readonly BudgetView[]> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const { id } = await findApp(tx, workspaceId, app);
    return views(tx, workspaceId, id, await listAppBudgets(tx, { workspaceId, appId: id }));
  });
}

export async function describeBudget(
  { database }: AdminServices,
  { workspaceId, app, period }: BudgetRef,
): Promise<BudgetView> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const { id } = await findApp(tx, workspaceId, app);
    const row = await readAppBudget(tx, { workspaceId, appId: id, period });
    if (row === undefined) throw noSuch("budget");
    return viewOne(tx, workspaceId, row);
  });
}

export async function putBudget(
  { database }: AdminServices,
  { workspaceId, actor, app, period }: BudgetRef,
  precondition: Precondition,
  input: LimitsInput,
): Promise<{ readonly view: BudgetView; readonly isNew: boolean }> {
  const limits = limitsOf(input);
  return database.inWorkspace(workspaceId, async (tx) => {
    // Serialises concurrent creations of a budget for the same period.
    const owner = await holdApp(tx, workspaceId, app);
    const before = await lockAppBudget(tx, { workspaceId, appId: owner.id, period });
    const currentView = before === undefined ? null : await viewOne(tx, workspaceId, before);
    if (before === undefined || currentView === null) allowMatch(precondition, null);
    else {
      refuseManagedByFile(before);
      requireMatch(precondition, currentView);
    }
    const name = { id: `${owner.id}/${period}`, workspace_id: workspaceId, app_id: owner.id, period };
    const after = await upsertBudget(tx, { ...name, ...limits, managed_by: "api" }, limits);
    if (before === undefined || JSON.stringify(viewLimits(before)) !== JSON.stringify(viewLimits(after))) {
      const action = before === undefined ? "budget.created" : "budget.changed";
      await auditChange(
        tx,
        { workspaceId, actor, action, object: after.id, before: before ?? null, after },
        viewLimits,
      );
    }
    return { view: await viewOne(tx, workspaceId, after), isNew: before === undefined };
  });
}

export async function deleteBudget(
  { database }: AdminServices,
  { workspaceId, actor, app, period }: BudgetRef,
  precondition: Precondition,
): Promise<string> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const owner = await findApp(tx, workspaceId, app);
    const before = await lockAppBudget(tx, { workspaceId, appId: owner.id, period });
    if (before === undefined) throw noSuch("budget");
    refuseManagedByFile(before);
    allowMatch(precondition, await viewOne(tx, workspaceId, before));
    await deleteBudgetRow(tx, workspaceId, before.id);
    await auditChange(
      tx,
      { workspaceId, actor, action: "budget.deleted", object: before.id, before, after: null },
      viewLimits,
    );
    return before.id;
  });
}

function limitsOf({ limit_usd: usd, limit_audio_seconds, limit_tokens, soft_limit }: LimitsInput) {
  if (usd === null && limit_audio_seconds === null && limit_tokens === null)
    throw invalidRequest(
      "limit_usd",
      "A budget needs at least one of `limit_usd`, `limit_audio_seconds` and `limit_tokens`.",
    );
  const limit_nano_usd = usd === null ? null : parseUsd(usd);
  if (usd !== null && limit_nano_usd === null) throw invalidRequest("limit_usd", "`limit_usd` is out of range.");
  return { limit_nano_usd, limit_audio_seconds, limit_tokens, soft_limit };
}

async function viewOne(tx: DatabaseTransaction, workspaceId: WorkspaceId, row: StoredBudget): Promise<BudgetView> {
  const [view] = await views(tx, workspaceId, row.app_id ?? "", [row]);
  if (view === undefined) throw new Error("a budget that was read is not there");
  return view;
}

async function views(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  appId: string,
  rows: readonly StoredBudget[],
): Promise<readonly BudgetView[]> {
  const states = new Map(
    (await readBudgetStates(tx, workspaceId, brand("app", appId))).map((state) => [state.id, state]),
  );
  return rows.flatMap((row) => {
    const state = states.get(row.id);
    if (state === undefined) return [];
    return [
      {
        object: "budget" as const,
        id: row.id,
        app_id: appId,
        ...viewLimits(row),
        managed_by: shownManager(row.managed_by),
        usage: {
          spent_usd: formatUsd(state.spentNanoUsd),
          reserved_usd: formatUsd(state.reservedNanoUsd),
          spent_audio_seconds: Number(state.spentAudioMs) / 1000,
          reserved_audio_seconds: Number(state.reservedAudioMs) / 1000,
          spent_tokens: Number(state.spentTokens),
          reserved_tokens: Number(state.reservedTokens),
          soft_limit_reached: reachesSoftLimit(state),
          resets_at: state.resetsAt?.toISOString() ?? null,
          forecast: describeForecast(state),
        },
      },
    ];
  });
}

/** The limits as shown in the API and in the audit entry. */
function viewLimits(row: StoredBudget) {
  return {
    period: row.period,
    limit_usd: row.limit_nano_usd === null ? null : formatUsd(row.limit_nano_usd),
    limit_audio_seconds: row.limit_audio_seconds === null ? null : Number(row.limit_audio_seconds),
    limit_tokens: row.limit_tokens === null ? null : Number(row.limit_tokens),
    soft_limit: row.soft_limit === null ? null : Number(row.soft_limit),
  };
}
