// Declares the endpoints of the completion webhook, for a workspace's administrators [webhooks.roles]: read, set and delete it, redeliver, test, and stream
// events.
import { z } from "zod";
import { json, jsonWithEtag, optionalMatch } from "../admin/admin.ts";
import { workspaceDeliveriesContracts } from "../admin/delivery-list.ts";
import type { EndpointContract } from "./endpoint.ts";
import {
  deliveryView,
  listenDelivery,
  listenReady,
  streamQuery,
  webhookDeleted,
  webhookRequest,
  webhookView,
} from "../webhook.ts";

export const streamedEvent = z.union([listenReady, listenDelivery]);

const PATH = "/workspace/:tenant_id/stt-webhook";

export const putSttWebhookContract: EndpointContract = {
  method: "PUT",
  path: PATH,
  operationId: "putSttWebhook",
  summary: "Create or update the completion webhook",
  description:
    "One webhook per workspace. The first call creates the signing secret, `rotate_secret` a new one. The secret is only in the answer to that call. The URL must be https and resolve to public addresses, now and at every delivery.",
  auth: "key",
  role: "admin",
  requestBody: { json: webhookRequest },
  headers: optionalMatch.extend({
    "If-None-Match": z.literal("*").describe("Only if there is no webhook yet; else 412.").optional(),
  }),
  responses: { 200: jsonWithEtag("The webhook.", webhookView) },
  errors: ["NOT_FOUND", "PRECONDITION_FAILED", "BODY_TOO_LARGE"],
};

export const getSttWebhookContract: EndpointContract = {
  method: "GET",
  path: PATH,
  operationId: "getSttWebhook",
  summary: "Get the completion webhook and its state",
  auth: "key",
  role: "admin",
  responses: { 200: jsonWithEtag("The webhook, without its secret.", webhookView) },
  errors: ["NOT_FOUND"],
};

export const deleteSttWebhookContract: EndpointContract = {
  method: "DELETE",
  path: PATH,
  operationId: "deleteSttWebhook",
  summary: "Delete the completion webhook",
  description: "Pending deliveries are abandoned. The delivery log is kept for its seven days.",
  auth: "key",
  role: "admin",
  headers: optionalMatch,
  responses: { 200: json("Deleted.", webhookDeleted) },
  errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
};

export const redeliverWebhookContract: EndpointContract = {
  method: "POST",
  path: `${PATH}/deliveries/:delivery_id/redeliver`,
  operationId: "redeliverSttWebhook",
  summary: "Redeliver an event",
  description: "The same event with the same id, and a complete new schedule of attempts.",
  auth: "key",
  role: "admin",
  responses: { 202: json("The delivery, due now.", deliveryView) },
  errors: ["NOT_FOUND"],
};

export const testWebhookContract: EndpointContract = {
  method: "POST",
  path: `${PATH}/test`,
  operationId: "testSttWebhook",
  summary: "Send a test delivery",
  description:
    "One signed attempt, made at once, even while the webhook is disabled. It contains `X-SVC-Webhook-Test: true` and the id of a job that does not exist. The answer contains the receiver's response.",
  auth: "key",
  role: "admin",
  responses: { 200: json("The test delivery with its one attempt.", deliveryView) },
  errors: ["NOT_FOUND", "CONCURRENCY_LIMITED"],
};

export const streamWebhookContract: EndpointContract = {
  method: "GET",
  path: `${PATH}/stream`,
  operationId: "streamSttWebhook",
  summary: "Stream events",
  description:
    "For `patchbay listen`: a `ready` event, then a `delivery` event for every job that ends, each with the headers and the body of a delivery. It requires no webhook, and does not affect deliveries to one.",
  auth: "key",
  role: "admin",
  query: streamQuery,
  responses: {
    200: {
      description: "An event stream; its events are `ready` and `delivery`.",
      content: { "text/event-stream": streamedEvent },
    },
  },
  errors: ["NOT_FOUND"],
};

export const WEBHOOK_ENDPOINTS: readonly EndpointContract[] = [
  putSttWebhookContract,
  getSttWebhookContract,
  deleteSttWebhookContract,
  workspaceDeliveriesContracts.workspace,
  redeliverWebhookContract,
  testWebhookContract,
  streamWebhookContract,
];
