// Schemas and endpoints of the admin API that list jobs, for the operator and a workspace's administrators [admin.jobs].
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
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { job, jobListQuery } from "../jobs.ts";

/** State and facts of a job, without the caller's metadata and transcript. */
export const listedJob = job.omit({ poll_url: true, metadata: true, result: true, result_url: true }).extend({
  workspace: z.string().describe("Id of the workspace."),
  app: z.string(),
  key: z.string().nullable().describe("Id of the key that submitted it."),
  request_id: z.string().describe("Id of its submission. Its record explains the routing."),
  task: z.enum(["transcribe", "translate"]),
  deadline_at: z.string().describe("When it fails unless it has ended."),
});
export type ListedJobView = z.infer<typeof listedJob>;
export const listedJobList = listOf(listedJob);

const filters = {
  ...pageFields,
  status: jobListQuery.shape.status,
  app: filterFields.app,
  job: z.string().min(1).max(64).describe("Only this job.").optional(),
};
export const workspaceJobsQuery = z.strictObject(filters);
export const jobsQuery = z.strictObject({ ...filters, workspace: filterFields.workspace });

const LIST: Omit<EndpointTemplate, "operationId" | "summary" | "query"> = {
  method: "GET",
  path: "/jobs",
  description:
    "Newest first, each for 30 days after its end. Without results and metadata, which only the app's own key can read.",
  responses: { 200: json("A page of jobs.", listedJobList) },
  errors: [],
};

export const listAllJobsContract: EndpointContract = operatorEndpoint({
  ...LIST,
  operationId: "listJobs",
  summary: "List jobs of all workspaces",
  query: jobsQuery,
  errors: ["NOT_FOUND"],
});
export const workspaceJobsContracts = mirrorForOperator({
  ...LIST,
  operationId: "listWorkspaceJobs",
  summary: "List jobs of a workspace's apps",
  query: workspaceJobsQuery,
});
