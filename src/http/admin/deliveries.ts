// GET /admin/v1/deliveries: lists webhook deliveries of all workspaces, and of one for its administrators and the operator [admin.deliveries].
import type { Principal } from "../../auth/principal.ts";
import {
  allDeliveriesQuery,
  listAllDeliveriesContract,
  workspaceDeliveriesContracts,
} from "../../contract/admin/delivery-list.ts";
import { deliveryQuery } from "../../contract/webhook.ts";
import { listAllDeliveries, listDeliveries } from "../../webhooks/list-deliveries.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { readQuery } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type AdminEdge, listReply, type MirroredEndpoint, mirroredEndpoint, pageRequest } from "./frame.ts";

const LIST = "deliveries";

export function getAllDeliveries({ requireAdmin, admin }: AdminEdge): Endpoint<Principal> {
  return {
    contract: listAllDeliveriesContract,
    handle: async (context) => {
      const { workspace, status = null, ...page } = readQuery(context.request, allDeliveriesQuery);
      const workspaceId = workspace === undefined ? null : await requireAdmin(principalOf(context), workspace);
      const { limit, after: cursor } = pageRequest(LIST, page);
      return listReply(LIST, await listAllDeliveries(admin.database, workspaceId, { status, limit, cursor }));
    },
  };
}

export function getWorkspaceDeliveries({ requireAdmin, admin }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(workspaceDeliveriesContracts, async (context) => {
    const { workspaceId } = await workspaceAdmin(requireAdmin, context);
    const { status = null, limit, cursor = null } = readQuery(context.request, deliveryQuery);
    const page = await listDeliveries(admin.database, workspaceId, { status, limit, cursor });
    return { status: 200, body: { json: page } };
  });
}
