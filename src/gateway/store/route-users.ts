// Reads the apps of one workspace, or of all, and the keys that override their routing, to find who uses a route.
import { sql } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { Handle } from "../../storage/system.ts";

export interface AppRow {
  readonly workspace_id: string;
  readonly workspace_slug: string;
  readonly plan: string | null;
  /** Null: the workspace has no app. */
  readonly id: string | null;
  readonly slug: string | null;
  readonly name: string | null;
  readonly settings: unknown;
}

/** Every workspace at least once. Null: of all workspaces. */
export async function listAppsWithWorkspace(db: Handle, workspace: WorkspaceId | null): Promise<readonly AppRow[]> {
  const rows = db
    .selectFrom("workspaces as workspace")
    .leftJoin("apps as app", "app.workspace_id", "workspace.id")
    .select([
      "workspace.id as workspace_id",
      "workspace.slug as workspace_slug",
      "workspace.plan",
      "app.id",
      "app.slug",
      "app.name",
      "app.settings",
    ])
    .orderBy("workspace.slug")
    .orderBy("app.slug");
  return (workspace === null ? rows : rows.where("workspace.id", "=", workspace)).execute();
}

export interface RoutedKeyRow {
  readonly app_id: string | null;
  readonly settings: unknown;
}

/** Valid keys of apps with a route, an override or purposes of their own. */
export async function listRoutedKeys(db: Handle, workspace: WorkspaceId | null): Promise<readonly RoutedKeyRow[]> {
  const rows = db
    .selectFrom("api_keys")
    .select(["app_id", "settings"])
    .where("app_id", "is not", null)
    .where("revoked_at", "is", null)
    .where(sql<boolean>`coalesce(expires_at > patchbay_now(), true)`)
    .where(
      sql<boolean>`(settings ->> 'route' is not null or settings ->> 'audioInputOverride' is not null
        or jsonb_array_length(coalesce(nullif(settings -> 'purposes', 'null'), '[]')) > 0)`,
    )
    .orderBy("id");
  return (workspace === null ? rows : rows.where("workspace_id", "=", workspace)).execute();
}
