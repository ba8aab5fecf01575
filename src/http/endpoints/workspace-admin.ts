// Authorizes an administrator for the workspace in the path `/workspace/{tenant_id}/…` [tenancy.workspace-admin].
import type { Principal } from "../../auth/principal.ts";
import type { KeyId, WorkspaceId } from "../../contract/ids.ts";
import { mapDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";
import { type HandlerContext, principalOf } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";

/** Throws 403 or 404. Implemented by `requireWorkspaceAdmin` with the database. */
export type RequireAdmin = (principal: Principal, tenantId: string) => Promise<WorkspaceId>;

export interface WorkspaceAdmin {
  readonly workspaceId: WorkspaceId;
  readonly actor: KeyId;
}

export async function workspaceAdmin(
  requireAdmin: RequireAdmin,
  context: HandlerContext<Principal>,
): Promise<WorkspaceAdmin> {
  const principal = principalOf(context);
  return {
    workspaceId: await mapDatabaseUnavailable(requireAdmin(principal, pathParameter(context, "tenant_id"))),
    actor: principal.key.id,
  };
}
