// GET /workspace/{tenant_id}/stt-webhook/deliveries (contract 6).
import type { Principal } from "../../auth/principal.ts";
import { getWebhookDeliveriesContract } from "../../contract/endpoint-webhook.ts";
import { deliveryQuery } from "../../contract/webhook.ts";
import { listDeliveries } from "../../webhooks/list-deliveries.ts";
import type { Endpoint } from "../endpoint.ts";
import { readQuery } from "../read-fields.ts";
import { workspaceAdmin } from "../workspace-admin.ts";
import type { WebhookEdge } from "../webhook-edge.ts";

export function getWebhookDeliveries({ requireAdmin, webhooks }: WebhookEdge): Endpoint<Principal> {
  return {
    contract: getWebhookDeliveriesContract,
    handle: async (context) => {
      const { workspaceId } = await workspaceAdmin(requireAdmin, context);
      const { status = null, limit, cursor = null } = readQuery(context.request, deliveryQuery);
      const page = await listDeliveries(webhooks.database, workspaceId, { status, limit, cursor });
      return { status: 200, body: { json: page } };
    },
  };
}
