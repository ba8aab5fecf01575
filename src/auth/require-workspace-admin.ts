// Requires that a caller may change a workspace's settings: an administrator of the workspace, or the operator [tenancy.workspace-admin]. Callers from other
// workspaces get 404, as if the workspace did not exist.
import { GatewayError } from "../contract/errors.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import type { Database, systemAccess } from "../storage/database.ts";
import type { Principal } from "./principal.ts";
import { bypassRls } from "../storage/system.ts";
import { findWorkspaceId } from "./store/tenants.ts";

/** `tenantId` is the workspace's slug or id from the path. Throws 403 or 404. */
export async function requireWorkspaceAdmin(
  database: Pick<Database, typeof systemAccess>,
  principal: Principal,
  tenantId: string,
): Promise<WorkspaceId> {
  if (principal.key.role === "operator") return requireWorkspace(database, tenantId);
  const { id, slug } = principal.workspace;
  if (tenantId !== id && tenantId !== slug) throw noSuchWorkspace();
  if (principal.key.role === "admin") return id;
  throw new GatewayError("FORBIDDEN", {
    message: "This requires an administrator key of the workspace.",
    details: { required: ["admin"] },
  });
}

async function requireWorkspace(database: Pick<Database, typeof systemAccess>, tenantId: string): Promise<WorkspaceId> {
  const id = await findWorkspaceId(bypassRls(database, "lookup").db, tenantId);
  if (id === null) throw noSuchWorkspace();
  return id;
}

function noSuchWorkspace(): GatewayError {
  return new GatewayError("NOT_FOUND", { message: "The workspace does not exist." });
}
