// Reads the webhooks of all workspaces with their workspaces' slugs, for `patchbay doctor`.
import type { Selectable } from "kysely";
import type { Handle } from "../../storage/system.ts";
import type { Tables } from "../../storage/schema/tables.ts";

/** The workspace's id and slug, and its webhook. The address is sealed if `sealed_url` is set. */
type ReceiverRow = Pick<Selectable<Tables["workspaces"]>, "id" | "slug"> &
  Pick<Selectable<Tables["webhooks"]>, "url" | "sealed_url" | "enabled" | "disabled_reason">;

/** In order of the workspaces' slugs. */
export async function listReceivers(db: Handle): Promise<readonly ReceiverRow[]> {
  return db
    .selectFrom("webhooks")
    .innerJoin("workspaces", "workspaces.id", "webhooks.workspace_id")
    .select(["workspaces.id", "workspaces.slug", "url", "sealed_url", "enabled", "disabled_reason"])
    .orderBy("workspaces.slug")
    .execute();
}
