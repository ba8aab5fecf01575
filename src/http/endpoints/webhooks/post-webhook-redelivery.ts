// POST /workspace/{tenant_id}/stt-webhook/deliveries/{delivery_id}/redeliver: sends a delivery again [webhooks.redeliver].
import type { Principal } from "../../../auth/principal.ts";
import { redeliverWebhookContract } from "../../../contract/endpoints/endpoint-webhook.ts";
import { brand } from "../../../contract/ids.ts";
import { redeliver } from "../../../webhooks/redeliver.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { pathParameter } from "../../server/path-parameter.ts";
import { workspaceAdmin } from "../workspace-admin.ts";
import type { WebhookEdge } from "./webhook-edge.ts";

export function postWebhookRedelivery({ requireAdmin, webhooks }: WebhookEdge): Endpoint<Principal> {
  return {
    contract: redeliverWebhookContract,
    handle: async (context) => {
      const admin = await workspaceAdmin(requireAdmin, context);
      const deliveryId = brand("delivery", pathParameter(context, "delivery_id"));
      return { status: 202, body: { json: await redeliver(webhooks, { ...admin, deliveryId }) } };
    },
  };
}
