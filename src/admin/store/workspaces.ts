// Stores workspaces for the operator's changes: inserts, lists, locks, updates and deletes their rows.
import type { Insertable, Selectable } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { SystemHandle, DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

export type WorkspaceRow = Selectable<Tables["workspaces"]>;

/** Undefined: a workspace with this slug exists already. */
export async function insertWorkspace(
  tx: DatabaseTransaction,
  workspace: Insertable<Tables["workspaces"]>,
): Promise<WorkspaceRow | undefined> {
  return tx
    .insertInto("workspaces")
    .values(workspace)
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Newest first, older than the id `after`. */
export async function listWorkspaceRows(
  db: SystemHandle,
  { plan, after, limit }: { readonly plan: string | null; readonly after: string | null; readonly limit: number },
): Promise<readonly WorkspaceRow[]> {
  let query = db.selectFrom("workspaces").selectAll();
  if (plan !== null) query = query.where("plan", "=", plan);
  if (after !== null) query = query.where("id", "<", after);
  return query.orderBy("id", "desc").limit(limit).execute();
}

export async function readWorkspace(tx: DatabaseTransaction, id: WorkspaceId): Promise<WorkspaceRow | undefined> {
  return tx.selectFrom("workspaces").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function lockWorkspaceRow(tx: DatabaseTransaction, id: WorkspaceId): Promise<WorkspaceRow | undefined> {
  return tx.selectFrom("workspaces").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

export async function hasWorkspace(tx: DatabaseTransaction, id: string): Promise<boolean> {
  const workspace = await tx.selectFrom("workspaces").select("id").where("id", "=", id).executeTakeFirst();
  return workspace !== undefined;
}

export async function updatePlanOf(
  tx: DatabaseTransaction,
  id: WorkspaceId,
  plan: string | null,
): Promise<WorkspaceRow> {
  return tx.updateTable("workspaces").set({ plan }).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

/** Deletes a workspace with what only its id links to it. */
export async function deleteWorkspaceRow(tx: DatabaseTransaction, id: WorkspaceId): Promise<void> {
  for (const table of ["connections", "routes", "audio_url_domains", "data_keys"] as const)
    await tx.deleteFrom(table).where("scope", "=", id).execute();
  await tx.deleteFrom("workspaces").where("id", "=", id).execute();
}
