// Locks a workspace in which something is created until the transaction ends. If the workspace is being removed, waits and then fails as for one
// that never existed [admin.removal-race].
import { GatewayError } from "../contract/errors.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import type { DatabaseTransaction } from "./database.ts";

/** `change` is exclusive, so other transactions that ask for it wait. Acquire the directory's lock first if both are needed. */
export async function lockWorkspace(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  mode: "keep" | "change" = "keep",
): Promise<void> {
  const row = tx.selectFrom("workspaces").select("id").where("id", "=", workspaceId);
  const workspace = await (mode === "keep" ? row.forKeyShare() : row.forUpdate()).executeTakeFirst();
  if (workspace === undefined) throw new GatewayError("NOT_FOUND", { message: "There is no such workspace." });
}
