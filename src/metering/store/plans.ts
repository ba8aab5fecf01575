// Stores plans, and reads which workspaces are on them.
import { type Insertable, type Kysely, type Selectable, sql, type Updateable } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type Handle = Kysely<Tables>;

export type PlanRow = Selectable<Tables["plans"]>;
type NewPlan = Insertable<Tables["plans"]>;

/** Undefined: there is a plan with this id already. */
export async function insertPlan(tx: DatabaseTransaction, plan: NewPlan): Promise<PlanRow | undefined> {
  return tx
    .insertInto("plans")
    .values(plan)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function upsertPlan(tx: DatabaseTransaction, id: string, columns: Omit<NewPlan, "id">): Promise<void> {
  await tx
    .insertInto("plans")
    .values({ id, ...columns })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(columns))
    .execute();
}

/** Plans in id order, after the id `after`. */
export async function listPlanRows(
  db: Handle,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly PlanRow[]> {
  const all = db.selectFrom("plans").selectAll();
  return (after === null ? all : all.where("id", ">", after)).orderBy("id").limit(limit).execute();
}

/** Ids of the plans with `managed_by` = `file`. */
export async function listFilePlans(tx: DatabaseTransaction): Promise<readonly string[]> {
  const rows = await tx.selectFrom("plans").select("id").where("managed_by", "=", "file").execute();
  return rows.map(({ id }) => id);
}

export async function readPlan(db: Handle, id: string): Promise<PlanRow | undefined> {
  return db.selectFrom("plans").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function lockPlan(tx: DatabaseTransaction, id: string): Promise<PlanRow | undefined> {
  return tx.selectFrom("plans").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

export async function updatePlan(
  tx: DatabaseTransaction,
  id: string,
  columns: Updateable<Tables["plans"]>,
): Promise<PlanRow> {
  return tx.updateTable("plans").set(columns).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

export async function unmanagePlan(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx.updateTable("plans").set({ managed_by: "api" }).where("id", "=", id).execute();
}

export async function deletePlanRow(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx.deleteFrom("plans").where("id", "=", id).execute();
}

/** Ids of the workspaces on a plan, in order. */
export async function listWorkspacesOnPlan(tx: DatabaseTransaction, plan: string): Promise<readonly string[]> {
  const rows = await tx.selectFrom("workspaces").select("id").where("plan", "=", plan).orderBy("id").execute();
  return rows.map(({ id }) => id);
}

export async function isPlanInUse(tx: DatabaseTransaction, plan: string): Promise<boolean> {
  const workspace = await tx.selectFrom("workspaces").select("id").where("plan", "=", plan).executeTakeFirst();
  return workspace !== undefined;
}

/** Null: the workspace has no plan. */
export async function readPlanOf(db: Handle, workspaceId: WorkspaceId): Promise<string | null> {
  const { plan } = await db
    .selectFrom("workspaces")
    .select("plan")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return plan;
}

/** The same, and locks the workspace. Undefined: there is no such workspace. */
export async function lockPlanOf(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
): Promise<string | null | undefined> {
  const workspace = await tx
    .selectFrom("workspaces")
    .select("plan")
    .where("id", "=", workspaceId)
    .forUpdate()
    .executeTakeFirst();
  return workspace?.plan;
}

/** A workspace's plan with its terms, which are null without a plan, and the time by the database's clock. Undefined: there is no such workspace. */
export async function readPlanTerms(tx: DatabaseTransaction, workspaceId: WorkspaceId) {
  return tx
    .selectFrom("workspaces as workspace")
    .leftJoin("plans as plan", "plan.id", "workspace.plan")
    .select([
      "workspace.plan as plan_id",
      "plan.monthly_chat_tokens",
      "plan.credits_nano_usd",
      sql<Date>`patchbay_now()`.as("now"),
    ])
    .where("workspace.id", "=", workspaceId)
    .executeTakeFirst();
}
