// Reads workspaces by id, for alerts of sources that know only the id.
import { brand } from "../../contract/ids.ts";
import type { SystemHandle } from "../../storage/database.ts";
import type { AlertWorkspace } from "../alert.ts";

export async function readWorkspaces(
  db: SystemHandle,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AlertWorkspace>> {
  const rows = await db.selectFrom("workspaces").select(["id", "slug"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, slug }) => [id, { id: brand("workspace", id), slug }]));
}
