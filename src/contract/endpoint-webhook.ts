// The completion webhook's settings and log as a workspace's administrators see them [webhooks.roles].
import { z } from "zod";
import { json, jsonWithEtag, optionalMatch } from "./admin.ts";
import { workspaceDeliveriesContracts } from "./delivery-list.ts";
import type { EndpointContract } from "./endpoint.ts";
import {
  deliveryView,
  listenDelivery,
  listenReady,
  streamQuery,
  webhookDeleted,
  webhookRequest,
  webhookView,
} from "./webhook.ts";

const PATH = "/workspace/:tenant_id/stt-webhook";

export const putSttWebhookContract: EndpointContract = {
  method: "PUT",
  path: PATH,
  operationId: "putSttWebhook",
  summary: "Configure the completion webhook",
  description:
    "One webhook per workspace. The first call makes the signing secret, `rotate_secret` a new one: it is in the answer to that call and never again. The URL must be https and lead to public addresses, now and at every delivery.",
  auth: "key",
  requestBody: { json: webhookRequest },
  headers: optionalMatch.extend({
    "If-None-Match": z.literal("*").describe("Only where there is no webhook yet; else 412.").optional(),
  }),
  responses: { 200: jsonWithEtag("The webhook.", webhookView) },
  errors: ["FORBIDDEN", "NOT_FOUND", "PRECONDITION_FAILED", "BODY_TOO_LARGE"],
};

export const getSttWebhookContract: EndpointContract = {
  method: "GET",
  path: PATH,
  operationId: "getSttWebhook",
  summary: "The completion webhook and how it fares",
  auth: "key",
  responses: { 200: jsonWithEtag("The webhook, without its secret.", webhookView) },
  errors: ["FORBIDDEN", "NOT_FOUND"],
};

export const deleteSttWebhookContract: EndpointContract = {
  method: "DELETE",
  path: PATH,
  operationId: "deleteSttWebhook",
  summary: "Remove the completion webhook",
  description: "Deliveries that wait are given up. The log of deliveries stays for its seven days.",
  auth: "key",
  headers: optionalMatch,
  responses: { 200: json("It is gone.", webhookDeleted) },
  errors: ["FORBIDDEN", "NOT_FOUND", "PRECONDITION_FAILED"],
};

export const redeliverWebhookContract: EndpointContract = {
  method: "POST",
  path: `${PATH}/deliveries/:delivery_id/redeliver`,
  operationId: "redeliverSttWebhook",
  summary: "Deliver an event again",
  description: "The same event under the same id, with the whole schedule of attempts before it.",
  auth: "key",
  responses: { 202: json("The delivery, due now.", deliveryView) },
  errors: ["FORBIDDEN", "NOT_FOUND"],
};

export const testWebhookContract: EndpointContract = {
  method: "POST",
  path: `${PATH}/test`,
  operationId: "testSttWebhook",
  summary: "Send a test delivery",
  description:
    "One signed attempt, made now, also while the webhook is disabled. It carries `X-SVC-Webhook-Test: true` and the id of a job that does not exist. The answer says how the receiver took it.",
  auth: "key",
  responses: { 200: json("The test delivery with its one attempt.", deliveryView) },
  errors: ["FORBIDDEN", "NOT_FOUND", "CONCURRENCY_LIMITED"],
};

export const streamWebhookContract: EndpointContract = {
  method: "GET",
  path: `${PATH}/stream`,
  operationId: "streamSttWebhook",
  summary: "Events as they happen",
  description:
    "What `patchbay listen` reads: a `ready` event, then a `delivery` event for every job that ends, each with the headers and the body that a delivery would have. Needs no webhook to be configured, and takes nothing away from one that is.",
  auth: "key",
  query: streamQuery,
  responses: {
    200: {
      description: "An event stream; its events are `ready` and `delivery`.",
      content: { "text/event-stream": z.union([listenReady, listenDelivery]) },
    },
  },
  errors: ["FORBIDDEN", "NOT_FOUND"],
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
