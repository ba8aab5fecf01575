// DELETE /v1/transcription/jobs/{job_id}: cancels a job [jobs.cancel-queued] [jobs.cancel-processing].
import type { Principal } from "../../../auth/principal.ts";
import { deleteJobContract } from "../../../contract/endpoints/endpoint-jobs.ts";
import { cancelJob } from "../../../jobs/cancel-job.ts";
import type { JobServices } from "../../../jobs/services.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { jobReply } from "../../reply/job-reply.ts";
import { jobOf } from "./job-of.ts";

export function deleteJob(jobs: JobServices): Endpoint<Principal> {
  return {
    contract: deleteJobContract,
    handle: async (context) => {
      const { owner, id } = jobOf(context);
      return jobReply(await cancelJob(jobs, owner, id, context.room));
    },
  };
}
