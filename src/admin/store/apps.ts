// Stores the apps of a workspace: inserts, lists, locks, updates and deletes their rows.
import type { Insertable, Selectable } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

export type AppRow = Selectable<Tables["apps"]>;

/** Undefined: the workspace has an app with this slug already. */
export async function insertApp(tx: DatabaseTransaction, app: Insertable<Tables["apps"]>): Promise<AppRow | undefined> {
  return tx
    .insertInto("apps")
    .values(app)
    .onConflict((conflict) => conflict.columns(["workspace_id", "slug"]).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Newest first, older than the id `after`. */
export async function listAppRows(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly AppRow[]> {
  const all = tx.selectFrom("apps").selectAll().where("workspace_id", "=", workspaceId);
  return (after === null ? all : all.where("id", "<", after)).orderBy("id", "desc").limit(limit).execute();
}

/** Apps with this slug or id: at most two, because a slug may look like another app's id. */
export async function listAppsNamed(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  slugOrId: string,
): Promise<readonly AppRow[]> {
  return appsNamed(tx, workspaceId, slugOrId).execute();
}

export async function lockAppsNamed(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  slugOrId: string,
): Promise<readonly AppRow[]> {
  return appsNamed(tx, workspaceId, slugOrId).forUpdate().execute();
}

function appsNamed(tx: DatabaseTransaction, workspaceId: WorkspaceId, slugOrId: string) {
  return tx
    .selectFrom("apps")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where((where) => where.or([where("id", "=", slugOrId), where("slug", "=", slugOrId)]));
}

export async function hasApps(tx: DatabaseTransaction, workspaceId: WorkspaceId): Promise<boolean> {
  const app = await tx.selectFrom("apps").select("id").where("workspace_id", "=", workspaceId).executeTakeFirst();
  return app !== undefined;
}

/** `settings` is JSON. */
export async function updateApp(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  id: string,
  changes: { readonly name: string; readonly settings: string },
): Promise<AppRow> {
  return tx
    .updateTable("apps")
    .set(changes)
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteAppRow(tx: DatabaseTransaction, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.deleteFrom("apps").where("workspace_id", "=", workspaceId).where("id", "=", id).execute();
}
