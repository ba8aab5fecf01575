// Schemas and endpoints of the admin API that list deletions of recordings at providers (`provider_deletion`), for a workspace's administrators and the
// operator [admin.deletions].
import { z } from "zod";
import { json, listOf, mirrorForOperator, operatorEndpoint, pageFields, time } from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";

export const DELETION_STATUSES = ["pending", "done", "failed"] as const;

export const providerDeletionView = z.strictObject({
  object: z.literal("provider_deletion"),
  id: z.string(),
  workspace_id: z.string(),
  app_id: z.string(),
  subject_id: z.string().describe("The request or the job with the recording."),
  connection: z.string().describe("Id of the provider account."),
  owner: z.enum(["platform", "workspace"]).describe("Owner of the account."),
  provider: z.string(),
  provider_id: z.string().describe("The provider's id of the recording, for a manual deletion."),
  simulated: z.boolean().describe("Made with a test key: the recording is in the sandbox."),
  status: z
    .enum(DELETION_STATUSES)
    .describe(
      "`pending`: to be done, or retried. `failed`: abandoned after two days; the provider still has the recording.",
    ),
  attempts: z.int().min(0),
  last_failure: z.string().nullable().describe("Error of the last attempt, as a code."),
  created_at: time,
  next_attempt_at: time.nullable(),
  finished_at: time.nullable(),
});
export type ProviderDeletionView = z.infer<typeof providerDeletionView>;
export const providerDeletionList = listOf(providerDeletionView);

const filters = {
  ...pageFields,
  status: z.enum(DELETION_STATUSES).describe("Only deletions in this state.").optional(),
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
    "Newest first. Completed deletions are removed after 30 days; failed ones are kept, because the recordings must be deleted manually at the provider.",
  responses: { 200: json("A page of deletions.", providerDeletionList) },
} as const;

export const listDeletionsContract: EndpointContract = operatorEndpoint({
  ...list,
  operationId: "listProviderDeletions",
  summary: "List deletions at providers",
  query: deletionsQuery,
  errors: ["NOT_FOUND"],
});

export const workspaceDeletionsContracts = mirrorForOperator({
  ...list,
  operationId: "listWorkspaceProviderDeletions",
  summary: "List deletions of a workspace's recordings at providers",
  query: workspaceDeletionsQuery,
  errors: [],
});
