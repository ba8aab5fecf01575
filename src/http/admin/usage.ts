// GET /admin/v1/usage: reports usage of all workspaces or one [usage.operator].
import type { Principal } from "../../auth/principal.ts";
import {
  adminUsageQuery,
  getAllUsageContract,
  workspaceUsageContracts,
  workspaceUsageQuery,
} from "../../contract/usage.ts";
import { usageOf } from "../../requests/usage.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { readQuery } from "../body/read-fields.ts";
import { usageReply } from "../reply/usage-reply.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type AdminEdge, type MirroredEndpoint, mirroredEndpoint } from "./frame.ts";

export function getAllUsage({ requireAdmin, admin }: AdminEdge): Endpoint<Principal> {
  return {
    contract: getAllUsageContract,
    handle: async (context) => {
      const { workspace, ...question } = readQuery(context.request, adminUsageQuery);
      const workspaceId = workspace === undefined ? null : await requireAdmin(principalOf(context), workspace);
      return usageReply(context.request.headers.accept, () => usageOf(admin, workspaceId, question));
    },
  };
}

export function getWorkspaceUsage({ requireAdmin, admin }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(workspaceUsageContracts, async (context) => {
    const { workspaceId } = await workspaceAdmin(requireAdmin, context);
    const question = readQuery(context.request, workspaceUsageQuery);
    return usageReply(context.request.headers.accept, () => usageOf(admin, workspaceId, question));
  });
}
