// Lists the webhook endpoints for `compose/public-endpoints.ts`.
import type { Principal } from "../../../auth/principal.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { deleteSttWebhook } from "./delete-stt-webhook.ts";
import { getSttWebhook } from "./get-stt-webhook.ts";
import { getWebhookStream } from "./get-webhook-stream.ts";
import { postWebhookRedelivery } from "./post-webhook-redelivery.ts";
import { postWebhookTest } from "./post-webhook-test.ts";
import { putSttWebhook } from "./put-stt-webhook.ts";
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
