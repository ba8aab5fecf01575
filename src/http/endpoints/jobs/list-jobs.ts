// GET /v1/transcription/jobs: lists the jobs of the key's app [jobs.list].
import type { Principal } from "../../../auth/principal.ts";
import { listJobsContract } from "../../../contract/endpoints/endpoint-jobs.ts";
import { jobListQuery } from "../../../contract/jobs.ts";
import { listOwnJobs } from "../../../jobs/read/read-job.ts";
import type { JobServices } from "../../../jobs/services.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { jobOwner } from "./job-of.ts";
import { readQuery } from "../../body/read-fields.ts";

export function listJobs(jobs: JobServices): Endpoint<Principal> {
  return {
    contract: listJobsContract,
    handle: async (context) => {
      const { status = null, limit, cursor = null } = readQuery(context.request, jobListQuery);
      return { status: 200, body: { json: await listOwnJobs(jobs, jobOwner(context), { status, limit, cursor }) } };
    },
  };
}
