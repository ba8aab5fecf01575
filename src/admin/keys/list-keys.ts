// GET …/keys: lists a workspace's keys, newest first, without secrets [keys.shown-once].
import { sql } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { KeyView } from "../../contract/admin/keys.ts";
import { pageOf } from "../../lib/list-page.ts";
import { findApp } from "../apps.ts";
import { DATABASE_NOW, isOfWorkspace, KEY_COLUMNS, keyView } from "./key-view.ts";
import type { AdminServices, Page, PageRequest } from "../services.ts";

export interface KeyFilter extends PageRequest {
  readonly app: string | null;
  readonly role: KeyView["role"] | null;
  readonly state: KeyView["state"] | null;
}

export async function listKeys(
  { database }: AdminServices,
  workspaceId: WorkspaceId,
  { limit, after, app, role, state }: KeyFilter,
): Promise<Page<KeyView>> {
  const rows = await database.inWorkspace(workspaceId, async (tx) => {
    let query = tx
      .selectFrom("api_keys")
      .select([...KEY_COLUMNS, DATABASE_NOW])
      .where("workspace_id", "=", workspaceId)
      .where(isOfWorkspace);
    if (app !== null) query = query.where("app_id", "=", (await findApp(tx, workspaceId, app)).id);
    if (role !== null) query = query.where("role", "=", role);
    if (state === "revoked") query = query.where("revoked_at", "is not", null);
    else if (state !== null)
      query = query
        .where("revoked_at", "is", null)
        .where(sql<boolean>`coalesce(expires_at <= patchbay_now(), false) = ${state === "expired"}`);
    if (after !== null) query = query.where("id", "<", after);
    return query
      .orderBy("id", "desc")
      .limit(limit + 1)
      .execute();
  });
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map((row) => keyView(row)), end: nextCursor };
}
