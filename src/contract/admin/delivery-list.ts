// Schemas and endpoints of the admin API that list webhook deliveries: of all workspaces for the operator [admin.deliveries], of one for its administrators
// and the operator [webhooks.log].
import { z } from "zod";
import { filterFields, json, listOf, mirrorForOperator, operatorEndpoint, pageFields } from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { attemptView, deliveryList, deliveryQuery, deliveryView } from "../webhook.ts";

/** Without the receiver's answers, which only its workspace may read. */
export const listedDelivery = deliveryView.extend({
  workspace: z.string().describe("Id of the workspace."),
  app: z.string().nullable().describe("Id of the job. Null for a test."),
  attempts: z.array(attemptView.omit({ response: true })).describe("The latest 20, oldest first."),
});
export type ListedDeliveryView = z.infer<typeof listedDelivery>;
export const listedDeliveryList = listOf(listedDelivery);

export const allDeliveriesQuery = z.strictObject({
  ...pageFields,
  status: deliveryQuery.shape.status,
  workspace: filterFields.workspace,
});

const SEVEN_DAYS = "The last seven days, newest first. `status=failed` lists deliveries without further attempts.";

export const listAllDeliveriesContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/deliveries",
  operationId: "listDeliveries",
  summary: "List webhook deliveries of all workspaces",
  description: `${SEVEN_DAYS} The answers of the receivers are only in the workspace's own log.`,
  query: allDeliveriesQuery,
  responses: { 200: json("A page of deliveries.", listedDeliveryList) },
  errors: ["NOT_FOUND"],
});

export const workspaceDeliveriesContracts = mirrorForOperator({
  method: "GET",
  path: "/stt-webhook/deliveries",
  operationId: "listSttWebhookDeliveries",
  summary: "List a workspace's webhook deliveries",
  description: SEVEN_DAYS,
  query: deliveryQuery,
  responses: { 200: json("A page of deliveries.", deliveryList) },
  errors: [],
});
