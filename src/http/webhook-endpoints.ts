// The endpoints of the completion webhook, gathered for `open-public.ts`.
import type { Principal } from "../auth/principal.ts";
import type { Endpoint } from "./endpoint.ts";
import { deleteSttWebhook } from "./endpoints/delete-stt-webhook.ts";
import { getSttWebhook } from "./endpoints/get-stt-webhook.ts";
import { getWebhookStream } from "./endpoints/get-webhook-stream.ts";
import { postWebhookRedelivery } from "./endpoints/post-webhook-redelivery.ts";
import { postWebhookTest } from "./endpoints/post-webhook-test.ts";
import { putSttWebhook } from "./endpoints/put-stt-webhook.ts";
import type { WebhookEdge } from "./webhook-edge.ts";

export function webhookEndpoints(edge: WebhookEdge): readonly Endpoint<Principal>[] {
  return [
    putSttWebhook(edge),
    getSttWebhook(edge),
    deleteSttWebhook(edge),
    postWebhookRedelivery(edge),
    postWebhookTest(edge),
    getWebhookStream(edge),
  ];
}
