// GET /workspace/{tenant_id}/stt-webhook: returns the workspace's webhook [webhooks.preconditions].
import type { Principal } from "../../../auth/principal.ts";
import { getSttWebhookContract } from "../../../contract/endpoints/endpoint-webhook.ts";
import { describeWebhook } from "../../../webhooks/describe.ts";
import { objectReply } from "../../admin/frame.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { workspaceAdmin } from "../workspace-admin.ts";
import type { WebhookEdge } from "./webhook-edge.ts";

export function getSttWebhook({ requireAdmin, webhooks }: WebhookEdge): Endpoint<Principal> {
  return {
    contract: getSttWebhookContract,
    handle: async (context) => {
      const { workspaceId } = await workspaceAdmin(requireAdmin, context);
      return objectReply(await describeWebhook(webhooks, workspaceId));
    },
  };
}
