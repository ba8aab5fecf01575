// GET /admin/v1/provider-deletions, and the same for one workspace: lists recordings to be deleted at providers, with their state [admin.deletions].
import { listProviderDeletions } from "../../admin/connections/list-provider-deletions.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  deletionsQuery,
  listDeletionsContract,
  workspaceDeletionsContracts,
  workspaceDeletionsQuery,
} from "../../contract/admin/provider-deletions.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { readQuery } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type AdminEdge, listReply, type MirroredEndpoint, mirroredEndpoint, pageRequest } from "./frame.ts";

const LIST = "provider_deletions";

export function getProviderDeletions({ requireAdmin, admin }: AdminEdge): Endpoint<Principal> {
  return {
    contract: listDeletionsContract,
    handle: async (context) => {
      const { workspace, status = null, ...page } = readQuery(context.request, deletionsQuery);
      const owner = workspace === undefined ? undefined : await requireAdmin(principalOf(context), workspace);
      return listReply(LIST, await listProviderDeletions(admin, { owner, status, ...pageRequest(LIST, page) }));
    },
  };
}

export function getWorkspaceDeletions({ requireAdmin, admin }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(workspaceDeletionsContracts, async (context) => {
    const { workspaceId: owner } = await workspaceAdmin(requireAdmin, context);
    const { status = null, ...page } = readQuery(context.request, workspaceDeletionsQuery);
    return listReply(LIST, await listProviderDeletions(admin, { owner, status, ...pageRequest(LIST, page) }));
  });
}
