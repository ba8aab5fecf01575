// POST /workspace/{tenant_id}/stt-webhook/test: sends a test delivery [webhooks.test-delivery].
import type { Principal } from "../../../auth/principal.ts";
import { testWebhookContract } from "../../../contract/endpoints/endpoint-webhook.ts";
import { testWebhook } from "../../../webhooks/test-webhook.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { workspaceAdmin } from "../workspace-admin.ts";
import type { WebhookEdge } from "./webhook-edge.ts";

export function postWebhookTest({ requireAdmin, webhooks }: WebhookEdge): Endpoint<Principal> {
  return {
    contract: testWebhookContract,
    handle: async (context) => {
      const { workspaceId } = await workspaceAdmin(requireAdmin, context);
      return { status: 200, body: { json: await testWebhook(webhooks, workspaceId) } };
    },
  };
}
