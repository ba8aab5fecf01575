// Schemas and endpoints of the admin API for workspaces, for the operator only: list, create, read, change the plan, delete [admin.workspaces].
import { z } from "zod";
import {
  CHANGE_ERRORS,
  json,
  jsonWithEtag,
  listOf,
  managedBy,
  operatorEndpoint,
  optionalMatch,
  pageFields,
  requiredMatch,
  time,
} from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { ID_PATTERN, ID_RULE } from "../names.ts";

/** A name in the form of an id could be confused with another object's id. */
export const slug = z
  .string()
  .regex(ID_PATTERN, ID_RULE)
  .regex(/^(?!(ws|app)_[0-9a-z]{26}$)/, "must not look like an id of the gateway's own");

const plan = z.string().regex(ID_PATTERN, ID_RULE).describe("Id of its plan. Not set: no credit check.");

export const workspaceRequest = z.strictObject({
  slug: slug.describe("Name used in paths. Cannot be changed later."),
  plan: plan.nullable().default(null),
});
export const workspaceChange = z.strictObject({ plan: plan.nullable().default(null) });

export const workspaceView = z.strictObject({
  object: z.literal("workspace"),
  id: z.string(),
  slug: z.string(),
  plan: z.string().nullable(),
  managed_by: managedBy,
  created_at: time,
});
export type WorkspaceView = z.infer<typeof workspaceView>;
export const workspaceList = listOf(workspaceView);

export const workspaceQuery = z.object({
  ...pageFields,
  plan: z.string().max(63).describe("Only workspaces on this plan.").optional(),
});

export const deletedView = z.strictObject({ object: z.string(), id: z.string(), deleted: z.literal(true) });

const ONE = "/workspaces/:tenant_id";

export const listWorkspacesContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/workspaces",
  operationId: "listWorkspaces",
  summary: "List workspaces",
  query: workspaceQuery,
  responses: { 200: json("A page of workspaces.", workspaceList) },
  errors: [],
});

export const postWorkspaceContract: EndpointContract = operatorEndpoint({
  method: "POST",
  path: "/workspaces",
  operationId: "createWorkspace",
  summary: "Create a workspace",
  requestBody: { json: workspaceRequest },
  responses: { 201: jsonWithEtag("The workspace.", workspaceView) },
  errors: ["CONFLICT", "BODY_TOO_LARGE"],
});

export const getWorkspaceContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: ONE,
  operationId: "getWorkspace",
  summary: "Get a workspace by slug or id",
  responses: { 200: jsonWithEtag("The workspace.", workspaceView) },
  errors: ["NOT_FOUND"],
});

export const putWorkspaceContract: EndpointContract = operatorEndpoint({
  method: "PUT",
  path: ONE,
  operationId: "replaceWorkspace",
  summary: "Change a workspace's plan",
  requestBody: { json: workspaceChange },
  headers: requiredMatch,
  responses: { 200: jsonWithEtag("The workspace.", workspaceView) },
  errors: [...CHANGE_ERRORS, "PRECONDITION_REQUIRED"],
});

export const deleteWorkspaceContract: EndpointContract = operatorEndpoint({
  method: "DELETE",
  path: ONE,
  operationId: "deleteWorkspace",
  summary: "Delete a workspace without apps",
  description:
    "Its administrators' keys, webhook, allow-list, connections and routes are deleted too. Its audit log, requests and usage are kept.",
  headers: optionalMatch,
  responses: { 200: json("Deleted.", deletedView) },
  errors: CHANGE_ERRORS,
});

export const WORKSPACE_ENDPOINTS: readonly EndpointContract[] = [
  listWorkspacesContract,
  postWorkspaceContract,
  getWorkspaceContract,
  putWorkspaceContract,
  deleteWorkspaceContract,
];
