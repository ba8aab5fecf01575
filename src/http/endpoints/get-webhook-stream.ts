// GET /workspace/{tenant_id}/stt-webhook/stream (contract 6).
import type { Principal } from "../../auth/principal.ts";
import { streamWebhookContract } from "../../contract/endpoint-webhook.ts";
import { streamQuery } from "../../contract/webhook.ts";
import { listen } from "../../webhooks/listen.ts";
import type { Endpoint } from "../endpoint.ts";
import { readQuery } from "../read-fields.ts";
import { workspaceAdmin } from "../workspace-admin.ts";
import type { WebhookEdge } from "../webhook-edge.ts";

export function getWebhookStream(edge: WebhookEdge): Endpoint<Principal> {
  return {
    contract: streamWebhookContract,
    handle: async (context) => {
      const { workspaceId } = await workspaceAdmin(edge.requireAdmin, context);
      const { after = null } = readQuery(context.request, streamQuery);
      const until = AbortSignal.any([context.clientGone, edge.draining]);
      return { status: 200, body: { events: listen(edge.webhooks, { workspaceId, after, until }) } };
    },
  };
}
