// Locks the workspace that something is created in to the end of the transaction: one that is being removed meanwhile is waited for, and
// then answers like one that never existed [admin.removal-race]. After the directory's lock where both are taken.
import { GatewayError } from "../contract/errors.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import type { Transacting } from "./database.ts";

/** `change`: whoever else asks for that waits. */
export async function lockWorkspace(
  tx: Transacting,
  workspaceId: WorkspaceId,
  how: "keep" | "change" = "keep",
): Promise<void> {
  const row = tx.selectFrom("workspaces").select("id").where("id", "=", workspaceId);
  const held = await (how === "keep" ? row.forKeyShare() : row.forUpdate()).executeTakeFirst();
  if (held === undefined) throw new GatewayError("NOT_FOUND", { message: "There is no such workspace." });
}
