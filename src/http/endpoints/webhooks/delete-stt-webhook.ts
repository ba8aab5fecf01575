// DELETE /workspace/{tenant_id}/stt-webhook: deletes the workspace's webhook [webhooks.preconditions].
import type { Principal } from "../../../auth/principal.ts";
import { deleteSttWebhookContract } from "../../../contract/endpoints/endpoint-webhook.ts";
import { deleteWebhook } from "../../../webhooks/describe.ts";
import { preconditionOf } from "../../admin/frame.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { workspaceAdmin } from "../workspace-admin.ts";
import type { WebhookEdge } from "./webhook-edge.ts";

export function deleteSttWebhook({ requireAdmin, webhooks }: WebhookEdge): Endpoint<Principal> {
  return {
    contract: deleteSttWebhookContract,
    handle: async (context) => {
      const admin = await workspaceAdmin(requireAdmin, context);
      await deleteWebhook(webhooks, { ...admin, precondition: preconditionOf(context) });
      return { status: 200, body: { json: { object: "stt_webhook", deleted: true } } };
    },
  };
}
