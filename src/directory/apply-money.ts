// Writes the prices, plans and budgets of the configuration file to storage, and deletes those that it no longer lists, except plans that a workspace still
// has.
import { isDeepStrictEqual } from "node:util";
import type { AppConfiguration, Configuration } from "../config/configuration.ts";
import { type AppId, brand, type WorkspaceId } from "../contract/ids.ts";
import { parseUsd } from "../metering/money.ts";
import type { SystemTransaction, DatabaseTransaction } from "../storage/database.ts";
import { deleteUnlistedBudgets } from "../metering/store/app-budgets.ts";
import { putPlanBudgets } from "../metering/store/plan-budgets.ts";
import {
  deletePlanRow,
  isPlanInUse,
  listFilePlans,
  listWorkspacesOnPlan,
  unmanagePlan,
  upsertPlan,
} from "../metering/store/plans.ts";
import { deletePrice, listPrices, upsertPrice } from "../metering/store/prices.ts";
import { upsertBudget } from "../metering/store/upsert-budget.ts";

export async function putPrices(tx: SystemTransaction, configuration: Configuration): Promise<void> {
  const nameOf = ({ provider, model }: { readonly provider: string; readonly model: string }) => `${provider}/${model}`;
  const before = await listPrices(tx);
  const listedNames = new Set(configuration.prices.map(nameOf));
  for (const row of before) if (!listedNames.has(nameOf(row))) await deletePrice(tx, row);
  const definitions = new Map(before.map((row) => [nameOf(row), row.definition]));
  for (const { provider, model, ...rest } of configuration.prices) {
    // Empty strings where a free model has none, because processes of the previous version parse these rows too.
    const definition = JSON.stringify({ ...rest, source: rest.source ?? "", asOf: rest.asOf ?? "" });
    if (isDeepStrictEqual(definitions.get(nameOf({ provider, model })), JSON.parse(definition))) continue;
    await upsertPrice(tx, { provider, model }, definition);
  }
}

/** Plans apply to all workspaces that have them, including those that are not in the file. */
export async function putPlans(tx: SystemTransaction, { plans }: Pick<Configuration, "plans">): Promise<void> {
  for (const { id, monthlyChatTokens, creditsUsd } of plans) {
    const columns = {
      monthly_chat_tokens: monthlyChatTokens,
      credits_nano_usd: parseUsd(creditsUsd) ?? 0n,
      managed_by: "file",
    };
    await upsertPlan(tx, id, columns);
    for (const workspace of await listWorkspacesOnPlan(tx, id))
      await putPlanBudgets(tx, brand("workspace", workspace), id);
  }
}

/** Deletes a plan that the file no longer lists. If a workspace still has it, the plan becomes editable through the API instead. */
export async function releasePlans(tx: SystemTransaction, { plans }: Pick<Configuration, "plans">): Promise<void> {
  const listed = new Set(plans.map(({ id }) => id));
  for (const id of await listFilePlans(tx)) {
    if (listed.has(id)) continue;
    if (await isPlanInUse(tx, id)) await unmanagePlan(tx, id);
    else await deletePlanRow(tx, id);
  }
}

/** A budget keeps its identity, and what it has spent, while its app and period are the same. */
export async function putBudgets(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  appId: AppId,
  budgets: AppConfiguration["budgets"],
): Promise<void> {
  const listedIds: string[] = [];
  for (const budget of budgets) {
    const id = `${appId}/${budget.period}`;
    listedIds.push(id);
    const columns = {
      limit_nano_usd: budget.limitUsd === null ? null : parseUsd(budget.limitUsd),
      limit_audio_seconds: budget.limitAudioSeconds,
      limit_tokens: budget.limitTokens,
      soft_limit: budget.softLimit,
      managed_by: "file",
    };
    await upsertBudget(
      tx,
      { id, workspace_id: workspaceId, app_id: appId, period: budget.period, ...columns },
      columns,
    );
  }
  await deleteUnlistedBudgets(tx, appId, listedIds);
}
