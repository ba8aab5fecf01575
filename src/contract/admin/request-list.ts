// Schemas and endpoints of the admin API for the request log, which list records or return one, for the operator and a workspace's administrators
// [requests.list].
import { z } from "zod";
import {
  type EndpointTemplate,
  filterFields,
  json,
  listOf,
  mirrorForOperator,
  operatorEndpoint,
  pageFields,
} from "./admin.ts";
import { BILLING_CLASSES } from "../billing-class.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { requestRecord } from "../requests.ts";
import { givenTime } from "../times.ts";

export const REQUEST_OUTCOMES = ["succeeded", "refused", "failed", "abandoned"] as const;
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

const seconds = z.number().min(0);

export const listedRequest = z.strictObject({
  object: z.literal("request"),
  id: z.string(),
  created_at: z.string(),
  recorded_at: z.string().describe("When the record was written, after the end of the request."),
  endpoint: z.string(),
  outcome: z
    .enum(REQUEST_OUTCOMES)
    .describe("`refused`: a 4xx status. `failed`: 5xx, or a stream that broke. `abandoned`: the caller disconnected."),
  status: z.int(),
  code: z.string().nullable(),
  workspace: z
    .string()
    .nullable()
    .describe("Id of the workspace. Null, like the key, for a request without a valid key."),
  app: z.string().nullable(),
  key: z.string().nullable(),
  test_mode: z.boolean(),
  purpose: z
    .strictObject({ requested: z.string().nullable(), applied: z.string().nullable(), source: z.string() })
    .nullable()
    .describe("Null: no routing decision was made."),
  route: z.string().nullable(),
  attempts: z
    .array(
      z.strictObject({
        position: z.int().min(1),
        connection: z.string(),
        provider: z.string(),
        model: z.string(),
        outcome: z.string().nullable().describe("Null while it is in flight."),
        billing_class: z.enum(BILLING_CLASSES),
      }),
    )
    .describe("Provider calls in order; more than one means a fallback."),
  duration_seconds: seconds,
  audio_seconds: seconds.nullable(),
  charge_usd: z.string().describe("US dollars, exact: the sum over its attempts."),
  job_id: z.string().nullable(),
});
export type ListedRequestView = z.infer<typeof listedRequest>;
export const listedRequestList = listOf(listedRequest);

const id = z.string().min(1).max(64);
const time = givenTime();
const { from, to, app, key, workspace } = filterFields;

const filters = {
  ...pageFields,
  from,
  to,
  app,
  key,
  outcome: z.enum(REQUEST_OUTCOMES).describe("Only requests with this outcome.").optional(),
  code: id.describe("Only requests that ended with this code.").optional(),
  recorded_from: time.describe("Written to the log at or after this time, for clients that follow it.").optional(),
};
export const workspaceRequestsQuery = z.strictObject(filters);
export const requestsQuery = z.strictObject({ ...filters, workspace });

const LIST: Omit<EndpointTemplate, "operationId" | "summary" | "query"> = {
  method: "GET",
  path: "/requests",
  description:
    "Newest first, including refused requests. A record is available within 5 s of the end of its request, for `retention.request_days`. It never contains audio, text or other contents.",
  responses: { 200: json("A page of requests.", listedRequestList) },
  errors: [],
};
const ONE: Omit<EndpointTemplate, "operationId" | "summary"> = {
  method: "GET",
  path: "/requests/:request_id",
  description:
    "What was requested, every target with the reason why it was used or skipped, every call with its outcome and cost. It never contains audio, text or other contents.",
  responses: { 200: json("The record.", requestRecord) },
  errors: ["NOT_FOUND"],
};

export const listRequestsContract: EndpointContract = operatorEndpoint({
  ...LIST,
  operationId: "listRequests",
  summary: "List requests of all workspaces",
  description: `${LIST.description} Requests without a valid key belong to no workspace; of a flood of them only some are stored.`,
  query: requestsQuery,
  errors: ["NOT_FOUND"],
});
export const getAnyRequestContract: EndpointContract = operatorEndpoint({
  ...ONE,
  operationId: "getAnyRequest",
  summary: "Get a request of any workspace with its routing",
});
export const workspaceRequestsContracts = mirrorForOperator({
  ...LIST,
  operationId: "listWorkspaceRequests",
  summary: "List requests of a workspace",
  query: workspaceRequestsQuery,
});
export const workspaceRequestContracts = mirrorForOperator({
  ...ONE,
  operationId: "getWorkspaceRequest",
  summary: "Get a request of a workspace with its routing",
});
