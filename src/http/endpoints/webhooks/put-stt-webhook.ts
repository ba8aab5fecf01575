// PUT /workspace/{tenant_id}/stt-webhook: creates or replaces the workspace's webhook [webhooks.preconditions].
import type { Principal } from "../../../auth/principal.ts";
import { putSttWebhookContract } from "../../../contract/endpoints/endpoint-webhook.ts";
import { webhookRequest } from "../../../contract/webhook.ts";
import { configureWebhook } from "../../../webhooks/configure.ts";
import { objectReply, preconditionOf } from "../../admin/frame.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { readFields } from "../../body/read-fields.ts";
import type { WebhookEdge } from "./webhook-edge.ts";
import { workspaceAdmin } from "../workspace-admin.ts";

export function putSttWebhook({ requireAdmin, webhooks }: WebhookEdge): Endpoint<Principal> {
  return {
    contract: putSttWebhookContract,
    handle: async (context) => {
      const admin = await workspaceAdmin(requireAdmin, context);
      const precondition = preconditionOf(context);
      const wanted = await readFields(context.request, webhookRequest);
      return objectReply(await configureWebhook(webhooks, { ...admin, precondition, wanted }));
    },
  };
}
