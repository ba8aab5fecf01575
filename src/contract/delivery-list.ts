// Webhook deliveries as the operator lists them [admin.deliveries], and a workspace's log for its administrators and the operator
// [webhooks.log].
import { z } from "zod";
import { json, listOf, mirrored, operatorEndpoint, pageFields } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";
import { attemptView, DELIVERY_STATES, deliveryList, deliveryQuery, deliveryView } from "./webhook.ts";

/** What a receiver answered with is its workspace's to read. */
export const listedDelivery = deliveryView.extend({
  workspace: z.string().describe("Its id."),
  app: z.string().nullable().describe("The job's; null for a test."),
  attempts: z.array(attemptView.omit({ response: true })).describe("The latest 20, oldest first."),
});
export type ListedDeliveryView = z.infer<typeof listedDelivery>;

export const allDeliveriesQuery = z.strictObject({
  ...pageFields,
  status: z.enum(DELIVERY_STATES).describe("Only these; `failed` are those that were given up.").optional(),
  workspace: z.string().min(1).max(64).describe("Slug or id of the workspace.").optional(),
});

const SEVEN_DAYS = "Seven days, newest first. `status=failed` lists what was given up.";

export const listAllDeliveriesContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/deliveries",
  operationId: "listDeliveries",
  summary: "Webhook deliveries of all workspaces",
  description: `${SEVEN_DAYS} What the receivers answered with is in the workspace's own log.`,
  query: allDeliveriesQuery,
  responses: { 200: json("A page of deliveries.", listOf(listedDelivery)) },
  errors: ["NOT_FOUND"],
});

export const workspaceDeliveriesContracts = mirrored({
  method: "GET",
  path: "/stt-webhook/deliveries",
  operationId: "listSttWebhookDeliveries",
  summary: "The log of deliveries",
  description: SEVEN_DAYS,
  query: deliveryQuery,
  responses: { 200: json("A page of deliveries.", deliveryList) },
  errors: [],
});
