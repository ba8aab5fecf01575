// Jobs as the operator and a workspace's administrators list them [admin.jobs].
import { z } from "zod";
import { type EndpointBelow, json, listOf, mirrored, operatorEndpoint, pageFields } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";
import { job, JOB_STATUSES } from "./jobs.ts";

/** What a job is and how it fares: what callers attached to it, and what was said, stays theirs. */
export const listedJob = job.omit({ poll_url: true, metadata: true, result: true, result_url: true }).extend({
  workspace: z.string().describe("Its id."),
  app: z.string(),
  key: z.string().nullable().describe("The one it was submitted with."),
  request_id: z.string().describe("Of its submission: its record shows why it went where it went."),
  task: z.enum(["transcribe", "translate"]),
  deadline_at: z.string().describe("When it fails if it has not ended."),
});
export type ListedJobView = z.infer<typeof listedJob>;

const id = z.string().min(1).max(64);

const filters = {
  ...pageFields,
  status: z.enum(JOB_STATUSES).describe("Only jobs in this state.").optional(),
  app: id.describe("Id of the app.").optional(),
  job: id.describe("Only this one, by its id.").optional(),
};
export const workspaceJobsQuery = z.strictObject(filters);
export const jobsQuery = z.strictObject({
  ...filters,
  workspace: id.describe("Slug or id of the workspace.").optional(),
});

const LIST: Omit<EndpointBelow, "operationId" | "summary" | "query"> = {
  method: "GET",
  path: "/jobs",
  description:
    "Newest first, each for 30 days after its end. Without results and metadata: those are the app's own, by its own key.",
  responses: { 200: json("A page of jobs.", listOf(listedJob)) },
  errors: [],
};

export const listAllJobsContract: EndpointContract = operatorEndpoint({
  ...LIST,
  operationId: "listJobs",
  summary: "The jobs of all workspaces",
  query: jobsQuery,
  errors: ["NOT_FOUND"],
});
export const workspaceJobsContracts = mirrored({
  ...LIST,
  operationId: "listWorkspaceJobs",
  summary: "The jobs of a workspace's apps",
  query: workspaceJobsQuery,
});
