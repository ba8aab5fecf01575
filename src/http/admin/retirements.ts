// GET /admin/v1/retirements, and the same for one workspace: lists what routes lose when providers end models [retirement.scope].
import { pageOfRetirements } from "../../admin/routes/list-retirements.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  listRetirementsContract,
  retirementsQuery,
  workspaceRetirementsContracts,
  workspaceRetirementsQuery,
} from "../../contract/admin/retirements.ts";
import { readQuery } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { type AdminEdge, listReply, type MirroredEndpoint, mirroredEndpoint, pageRequest } from "./frame.ts";

const LIST = "retirements";

/** Longer than most positions: the features of a purpose are part of it. */
const isPosition = (position: string): boolean => /^[\x21-\x7e]{1,290}$/u.test(position);

export function listAllRetirements({ requireAdmin, retirements }: AdminEdge): Endpoint<Principal> {
  return {
    contract: listRetirementsContract,
    handle: async (context) => {
      const { workspace: name, within_days: withinDays = null, ...page } = readQuery(context.request, retirementsQuery);
      const workspace = name === undefined ? null : await requireAdmin(principalOf(context), name);
      const filter = { workspace, withinDays, ...pageRequest(LIST, page, isPosition) };
      return listReply(LIST, await pageOfRetirements(retirements, filter));
    },
  };
}

export function listWorkspaceRetirements({ requireAdmin, retirements }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(workspaceRetirementsContracts, async (context) => {
    const { workspaceId: workspace } = await workspaceAdmin(requireAdmin, context);
    const { within_days: withinDays = null, ...page } = readQuery(context.request, workspaceRetirementsQuery);
    const filter = { workspace, withinDays, ...pageRequest(LIST, page, isPosition) };
    return listReply(LIST, await pageOfRetirements(retirements, filter));
  });
}
