// The request log as the operator and a workspace's administrators list it [requests.list].
import { z } from "zod";
import { type EndpointBelow, json, listOf, mirrored, operatorEndpoint, pageFields } from "./admin.ts";
import { BILLING_CLASSES } from "./billing-class.ts";
import type { EndpointContract } from "./endpoint.ts";
import { requestRecord } from "./requests.ts";
import { givenTime } from "./times.ts";

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
    .describe("`refused`: a status of 4xx. `failed`: 5xx, or a stream that broke. `abandoned`: the caller hung up."),
  status: z.int(),
  code: z.string().nullable(),
  workspace: z.string().nullable().describe("Its id; null, with the key, where the request came without a valid key."),
  app: z.string().nullable(),
  key: z.string().nullable(),
  test_mode: z.boolean(),
  purpose: z
    .strictObject({ requested: z.string().nullable(), applied: z.string().nullable(), source: z.string() })
    .nullable()
    .describe("Null where no decision was made."),
  route: z.string().nullable(),
  attempts: z
    .array(
      z.strictObject({
        position: z.int().min(1),
        connection: z.string(),
        provider: z.string(),
        model: z.string(),
        outcome: z.string().nullable().describe("Null while it is under way."),
        billing_class: z.enum(BILLING_CLASSES),
      }),
    )
    .describe("Its calls, in their order: more than one, and it fell back."),
  duration_seconds: seconds,
  audio_seconds: seconds.nullable(),
  charge_usd: z.string().describe("US dollars, exact: the sum over its attempts."),
  job_id: z.string().nullable(),
});
export type ListedRequestView = z.infer<typeof listedRequest>;

const id = z.string().min(1).max(64);
const time = givenTime();

const filters = {
  ...pageFields,
  from: time.describe("Not before this time.").optional(),
  to: time.describe("Before this time.").optional(),
  app: id.describe("Id of the app.").optional(),
  key: id.describe("Id of the key.").optional(),
  outcome: z.enum(REQUEST_OUTCOMES).describe("Only these.").optional(),
  code: id.describe("Only those that ended with this code.").optional(),
  recorded_from: time
    .describe("Written to the log at or after this time: what is new, for those who follow it.")
    .optional(),
};
export const workspaceRequestsQuery = z.strictObject(filters);
export const requestsQuery = z.strictObject({
  ...filters,
  workspace: id.describe("Slug or id of the workspace.").optional(),
});

const LIST: Omit<EndpointBelow, "operationId" | "summary" | "query"> = {
  method: "GET",
  path: "/requests",
  description:
    "Newest first, refused ones included; a record is there within 5 s of the end of its request and for `retention.request_days`. It never holds what was said or sent.",
  responses: { 200: json("A page of requests.", listOf(listedRequest)) },
  errors: [],
};
const ONE: Omit<EndpointBelow, "operationId" | "summary"> = {
  method: "GET",
  path: "/requests/:request_id",
  description:
    "What was asked, every target with why it was taken or left, every call with its outcome and cost. It never holds what was said or sent.",
  responses: { 200: json("The record.", requestRecord) },
  errors: ["NOT_FOUND"],
};

export const listRequestsContract: EndpointContract = operatorEndpoint({
  ...LIST,
  operationId: "listRequests",
  summary: "The request log of all workspaces",
  description: `${LIST.description} Requests without a valid key belong to no workspace; of a flood of them only some are kept.`,
  query: requestsQuery,
  errors: ["NOT_FOUND"],
});
export const getAnyRequestContract: EndpointContract = operatorEndpoint({
  ...ONE,
  operationId: "getAnyRequest",
  summary: "Why a request of any workspace went where it went",
});
export const workspaceRequestsContracts = mirrored({
  ...LIST,
  operationId: "listWorkspaceRequests",
  summary: "The request log of a workspace",
  query: workspaceRequestsQuery,
});
export const workspaceRequestContracts = mirrored({
  ...ONE,
  operationId: "getWorkspaceRequest",
  summary: "Why a request of the workspace went where it went",
});
