// GET /workspace/{tenant_id}/usage (contract 9).
import type { Principal } from "../../auth/principal.ts";
import { getWorkspaceUsageContract, workspaceUsageQuery } from "../../contract/usage.ts";
import { type UsageServices, usageOf } from "../../requests/usage.ts";
import type { Endpoint } from "../endpoint.ts";
import { readQuery } from "../read-fields.ts";
import { usageReply } from "../usage-reply.ts";
import { type RequireAdmin, workspaceAdmin } from "../workspace-admin.ts";

export interface WorkspaceUsageEdge extends Pick<UsageServices, "database"> {
  readonly requireAdmin: RequireAdmin;
}

export function getWorkspaceUsage(edge: WorkspaceUsageEdge): Endpoint<Principal> {
  return {
    contract: getWorkspaceUsageContract,
    handle: async (context) => {
      const { workspaceId } = await workspaceAdmin(edge.requireAdmin, context);
      const question = readQuery(context.request, workspaceUsageQuery);
      return usageReply(context.request.headers.accept, () => usageOf(edge, workspaceId, question));
    },
  };
}
