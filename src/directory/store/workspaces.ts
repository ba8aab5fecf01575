// Stores the workspaces and apps that the configuration file lists, and finds an app by its name.
import { type AppId, brand, newId, type WorkspaceId } from "../../contract/ids.ts";
import type { SystemHandle, DatabaseTransaction } from "../../storage/database.ts";

/** Without a plan the existing one stays. */
export async function upsertWorkspace(
  tx: DatabaseTransaction,
  slug: string,
  plan: { readonly plan?: string | null },
): Promise<WorkspaceId> {
  const row = await tx
    .insertInto("workspaces")
    .values({ id: newId("workspace"), slug, plan: null, ...plan, managed_by: "file" })
    .onConflict((conflict) => conflict.column("slug").doUpdateSet({ ...plan, managed_by: "file" }))
    .returning("id")
    .executeTakeFirstOrThrow();
  return brand("workspace", row.id);
}

export interface FileApp {
  readonly workspaceId: WorkspaceId;
  readonly slug: string;
  readonly name: string;
  /** JSON. */
  readonly settings: string;
}

export async function upsertApp(
  tx: DatabaseTransaction,
  { workspaceId, slug, name, settings }: FileApp,
): Promise<AppId> {
  const row = await tx
    .insertInto("apps")
    .values({ id: newId("app"), workspace_id: workspaceId, slug, name, settings, managed_by: "file" })
    .onConflict((conflict) =>
      conflict.columns(["workspace_id", "slug"]).doUpdateSet({ name, settings, managed_by: "file" }),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  return brand("app", row.id);
}

/** Finds an app with its workspace, by its id or by both slugs as `workspace/app`. */
export async function readAppByName(db: SystemHandle, name: string) {
  const [workspace = "", slug = ""] = name.split("/");
  return db
    .selectFrom("apps as app")
    .innerJoin("workspaces as workspace", "workspace.id", "app.workspace_id")
    .select(["app.id", "app.name", "app.settings", "workspace.id as workspace_id", "workspace.slug", "workspace.plan"])
    .where((where) =>
      where.or([
        where("app.id", "=", name),
        where.and([where("workspace.slug", "=", workspace), where("app.slug", "=", slug)]),
      ]),
    )
    .executeTakeFirst();
}

/** Ids of the workspaces with `managed_by` = `file`. */
export async function listFileWorkspaces(tx: DatabaseTransaction): Promise<readonly { readonly id: string }[]> {
  return tx.selectFrom("workspaces").select("id").where("managed_by", "=", "file").execute();
}

export async function listFileApps(
  tx: DatabaseTransaction,
): Promise<readonly { readonly id: string; readonly workspace_id: string }[]> {
  return tx.selectFrom("apps").select(["id", "workspace_id"]).where("managed_by", "=", "file").execute();
}

export async function unmanageWorkspace(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx.updateTable("workspaces").set({ managed_by: "api" }).where("id", "=", id).execute();
}

export async function unmanageApp(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx.updateTable("apps").set({ managed_by: "api" }).where("id", "=", id).execute();
}
