// Authorizes a change of a workspace's settings for its administrators and the operator [tenancy.workspace-admin]. For callers from other workspaces it does
// not exist.
import { GatewayError } from "../contract/errors.ts";
import { brand, type WorkspaceId } from "../contract/ids.ts";
import type { Database } from "../storage/database.ts";
import type { Principal } from "./principal.ts";
import { lookUps } from "../storage/system.ts";

/** `tenantId` is the workspace's slug or id from the path. Throws 403 or 404. */
export async function requireWorkspaceAdmin(
  database: Pick<Database, "db">,
  principal: Principal,
  tenantId: string,
): Promise<WorkspaceId> {
  if (principal.key.role === "operator") return findWorkspace(database, tenantId);
  const { id, slug } = principal.workspace;
  if (tenantId !== id && tenantId !== slug) throw noSuchWorkspace();
  if (principal.key.role === "admin") return id;
  throw new GatewayError("FORBIDDEN", {
    message: "This requires an administrator key of the workspace.",
    details: { required: ["admin"] },
  });
}

async function findWorkspace(database: Pick<Database, "db">, tenantId: string): Promise<WorkspaceId> {
  const rows = await lookUps(database)
    .db.selectFrom("workspaces")
    .select(["id"])
    .where((where) => where.or([where("id", "=", tenantId), where("slug", "=", tenantId)]))
    .execute();
  // A slug may look like another workspace's id. The id wins, so that an id always names the same workspace.
  const found = rows.find(({ id }) => id === tenantId) ?? rows[0];
  if (found === undefined) throw noSuchWorkspace();
  return brand("workspace", found.id);
}

function noSuchWorkspace(): GatewayError {
  return new GatewayError("NOT_FOUND", { message: "The workspace does not exist." });
}
