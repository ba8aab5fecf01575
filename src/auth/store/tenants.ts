// Finds a workspace by the slug or id that a caller sent, and stores when keys were last used.
import { sql } from "kysely";
import { brand, type KeyId, type WorkspaceId } from "../../contract/ids.ts";
import type { SystemHandle } from "../../storage/database.ts";

/** Finds a workspace by slug or id. Null: there is none. */
export async function findWorkspaceId(db: SystemHandle, slugOrId: string): Promise<WorkspaceId | null> {
  const rows = await db
    .selectFrom("workspaces")
    .select(["id"])
    .where((where) => where.or([where("id", "=", slugOrId), where("slug", "=", slugOrId)]))
    .execute();
  // A slug may look like another workspace's id. The id wins, so that an id always names the same workspace.
  const found = rows.find(({ id }) => id === slugOrId) ?? rows[0];
  return found === undefined ? null : brand("workspace", found.id);
}

/** In id order, skipping keys that another process has just written, so that processes do not wait for each other. */
export async function updateLastUsed(db: SystemHandle, keys: readonly KeyId[]): Promise<void> {
  await sql`update api_keys set last_used_at = patchbay_now() where id in (
      select id from api_keys where id = any(${keys}::text[])
        and (last_used_at is null or last_used_at < patchbay_now() - interval '20 seconds')
      order by id for update skip locked)`.execute(db);
}
