// GET …/keys: lists a workspace's keys, newest first, without secrets [keys.shown-once].
import type { WorkspaceId } from "../../contract/ids.ts";
import type { KeyView } from "../../contract/admin/keys.ts";
import { pageOf } from "../../lib/list-page.ts";
import { findApp } from "../apps.ts";
import { keyView } from "./key-view.ts";
import type { AdminServices, Page, PageRequest } from "../services.ts";
import { listKeyRows } from "../store/keys.ts";

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
    const appId = app === null ? null : (await findApp(tx, workspaceId, app)).id;
    return listKeyRows(tx, workspaceId, { appId, role, state, after, limit: limit + 1 });
  });
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map((row) => keyView(row)), end: nextCursor };
}
