// Writes the prices, plans and budgets of the configuration file to storage, and deletes those that it no longer lists.
import { isDeepStrictEqual } from "node:util";
import type { AppConfiguration, Configuration } from "../config/configuration.ts";
import { type AppId, brand, type WorkspaceId } from "../contract/ids.ts";
import { parseUsd } from "../metering/money.ts";
import type { SystemTransaction, Transacting } from "../storage/database.ts";
import { upsertBudget } from "../metering/store/upsert-budget.ts";
import { putPlanBudgets } from "../metering/store/plan-budgets.ts";

export async function putPrices(tx: SystemTransaction, configuration: Configuration): Promise<void> {
  const nameOf = ({ provider, model }: { readonly provider: string; readonly model: string }) => `${provider}/${model}`;
  const before = await tx.selectFrom("prices").selectAll().execute();
  const listedNames = new Set(configuration.prices.map(nameOf));
  for (const row of before)
    if (!listedNames.has(nameOf(row)))
      await tx.deleteFrom("prices").where("provider", "=", row.provider).where("model", "=", row.model).execute();
  const definitions = new Map(before.map((row) => [nameOf(row), row.definition]));
  for (const { provider, model, ...rest } of configuration.prices) {
    // Empty strings where a free model has none, because processes of the previous version parse these rows too.
    const definition = JSON.stringify({ ...rest, source: rest.source ?? "", asOf: rest.asOf ?? "" });
    if (isDeepStrictEqual(definitions.get(nameOf({ provider, model })), JSON.parse(definition))) continue;
    await tx
      .insertInto("prices")
      .values({ provider, model, definition })
      .onConflict((conflict) => conflict.columns(["provider", "model"]).doUpdateSet({ definition }))
      .execute();
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
    await tx
      .insertInto("plans")
      .values({ id, ...columns })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(columns))
      .execute();
    const workspaces = await tx.selectFrom("workspaces").select("id").where("plan", "=", id).orderBy("id").execute();
    for (const workspace of workspaces) await putPlanBudgets(tx, brand("workspace", workspace.id), id);
  }
}

/** Deletes a plan that the file no longer lists. If a workspace still has it, the plan becomes editable through the API instead. */
export async function releasePlans(tx: SystemTransaction, { plans }: Pick<Configuration, "plans">): Promise<void> {
  const listed = new Set(plans.map(({ id }) => id));
  const owned = await tx.selectFrom("plans").select("id").where("managed_by", "=", "file").execute();
  for (const { id } of owned) {
    if (listed.has(id)) continue;
    const workspace = await tx.selectFrom("workspaces").select("id").where("plan", "=", id).executeTakeFirst();
    if (workspace === undefined) await tx.deleteFrom("plans").where("id", "=", id).execute();
    else await tx.updateTable("plans").set({ managed_by: "api" }).where("id", "=", id).execute();
  }
}

/** A budget keeps its identity, and what it has spent, while its app and period are the same. */
export async function putBudgets(
  tx: Transacting,
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
  const stale = tx.deleteFrom("budgets").where("app_id", "=", appId).where("managed_by", "=", "file");
  await (listedIds.length === 0 ? stale : stale.where("id", "not in", listedIds)).execute();
}
