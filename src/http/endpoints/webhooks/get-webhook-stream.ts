// GET /workspace/{tenant_id}/stt-webhook/stream: streams webhook deliveries as events [webhooks.listen].
import type { Principal } from "../../../auth/principal.ts";
import { streamWebhookContract } from "../../../contract/endpoints/endpoint-webhook.ts";
import { streamQuery } from "../../../contract/webhook.ts";
import { listen } from "../../../webhooks/listen.ts";
import { type Endpoint, principalOf } from "../../server/endpoint.ts";
import { readQuery } from "../../body/read-fields.ts";
import type { WebhookEdge } from "./webhook-edge.ts";
import { watchAuthorization } from "../../server/watch-authorization.ts";
import { workspaceAdmin } from "../workspace-admin.ts";

export function getWebhookStream(edge: WebhookEdge): Endpoint<Principal> {
  return {
    contract: streamWebhookContract,
    handle: async (context) => {
      const authorizeAdmin = (caller: Principal) =>
        workspaceAdmin(edge.requireAdmin, { ...context, principal: caller });
      const { workspaceId } = await authorizeAdmin(principalOf(context));
      const { after = null } = readQuery(context.request, streamQuery);
      const watch = watchAuthorization([context.clientGone, edge.draining], async () =>
        authorizeAdmin(await context.callerNow()),
      );
      const events = listen(edge.webhooks, { workspaceId, after, until: watch.ended });
      return { status: 200, body: { events, held: watch } };
    },
  };
}
