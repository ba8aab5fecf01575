// Lists, locks and deletes the budgets of one app. `upsert-budget.ts` creates and changes them.
import { type Selectable, sql } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

export type StoredBudget = Selectable<Tables["budgets"]>;

interface OfApp {
  readonly workspaceId: WorkspaceId;
  readonly appId: string;
}

export interface OfPeriod extends OfApp {
  readonly period: StoredBudget["period"];
}

export async function listAppBudgets(tx: DatabaseTransaction, app: OfApp): Promise<readonly StoredBudget[]> {
  return selectBudgets(tx, app).orderBy("period").execute();
}

export async function readAppBudget(tx: DatabaseTransaction, app: OfPeriod): Promise<StoredBudget | undefined> {
  return selectBudgets(tx, app).where("period", "=", app.period).executeTakeFirst();
}

export async function lockAppBudget(tx: DatabaseTransaction, app: OfPeriod): Promise<StoredBudget | undefined> {
  return selectBudgets(tx, app).where("period", "=", app.period).forUpdate().executeTakeFirst();
}

function selectBudgets(tx: DatabaseTransaction, { workspaceId, appId }: OfApp) {
  return tx
    .selectFrom("budgets")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("app_id", "=", appId)
    .where("kind", "=", sql<"budget">`'budget'`);
}

export async function deleteBudgetRow(tx: DatabaseTransaction, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.deleteFrom("budgets").where("workspace_id", "=", workspaceId).where("id", "=", id).execute();
}

/** Deletes the app's budgets that the file gave it and no longer lists. */
export async function deleteUnlistedBudgets(
  tx: DatabaseTransaction,
  appId: string,
  listedIds: readonly string[],
): Promise<void> {
  const stale = tx.deleteFrom("budgets").where("app_id", "=", appId).where("managed_by", "=", "file");
  await (listedIds.length === 0 ? stale : stale.where("id", "not in", listedIds)).execute();
}

/** Makes the budgets that the file gave an app editable through the API. */
export async function unmanageBudgets(tx: DatabaseTransaction, appId: string): Promise<void> {
  await tx
    .updateTable("budgets")
    .set({ managed_by: "api" })
    .where("app_id", "=", appId)
    .where("managed_by", "=", "file")
    .execute();
}
