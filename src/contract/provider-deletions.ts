// Deletions at providers (`provider_deletion`), as a workspace's administrators and the operator read them [admin.deletions].
import { z } from "zod";
import { json, listOf, mirrored, operatorEndpoint, pageFields, time } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";

export const DELETION_STATUSES = ["pending", "done", "failed"] as const;

export const providerDeletionView = z.strictObject({
  object: z.literal("provider_deletion"),
  id: z.string(),
  workspace_id: z.string(),
  app_id: z.string(),
  subject_id: z.string().describe("The request or the job whose recording it is."),
  connection: z.string().describe("The id of the provider account that was used."),
  owner: z.enum(["platform", "workspace"]).describe("Whose account it is."),
  provider: z.string(),
  provider_id: z.string().describe("The provider's own id of it, for whoever deletes it by hand."),
  simulated: z.boolean().describe("Made with a test key: it lies in the sandbox."),
  status: z
    .enum(DELETION_STATUSES)
    .describe("`pending`: to be done, or tried again. `failed`: given up after two days; the provider still keeps it."),
  attempts: z.int().min(0),
  last_failure: z.string().nullable().describe("What the last attempt failed with, in one word."),
  created_at: time,
  next_attempt_at: time.nullable(),
  finished_at: time.nullable(),
});
export type ProviderDeletionView = z.infer<typeof providerDeletionView>;

const filters = {
  ...pageFields,
  status: z.enum(DELETION_STATUSES).describe("Only these.").optional(),
};
export const workspaceDeletionsQuery = z.object(filters);
export const deletionsQuery = z.object({
  ...filters,
  workspace: z.string().min(1).max(63).describe("Slug or id.").optional(),
});

const list = {
  method: "GET",
  path: "/provider-deletions",
  description:
    "Newest first. What was done is forgotten after 30 days; what failed stays, because somebody has to see to it at the provider.",
  responses: { 200: json("A page of deletions.", listOf(providerDeletionView)) },
} as const;

export const listDeletionsContract: EndpointContract = operatorEndpoint({
  ...list,
  operationId: "listProviderDeletions",
  summary: "What providers were to delete",
  query: deletionsQuery,
  errors: ["NOT_FOUND"],
});

export const workspaceDeletionsContracts = mirrored({
  ...list,
  operationId: "listWorkspaceProviderDeletions",
  summary: "What providers were to delete of this workspace's recordings",
  query: workspaceDeletionsQuery,
  errors: [],
});
