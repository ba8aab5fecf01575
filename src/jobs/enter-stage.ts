// The edge between two stages of a job's work (contract 5): how far it is becomes known, and whether it is still wanted and still ours.
import type { RecordedCandidate } from "../gateway/request-record.ts";
import { type Progress, writeProgress } from "../storage/job-work.ts";
import { claims } from "../storage/system.ts";
import type { OpenJob } from "./job-request.ts";
import { type JobServices, jobTopic } from "./services.ts";
import { JobStop } from "./stop.ts";

/** Here cancellation is honoured. */
export async function enterStage(
  services: JobServices,
  job: OpenJob,
  progress: Progress,
  candidates?: readonly RecordedCandidate[],
): Promise<void> {
  const written = await writeProgress(claims(services.database).db, job, progress, candidates);
  if (written === null) throw new JobStop("lost");
  if (written.cancelRequested) throw new JobStop("cancelled");
  await services.queue.publish(jobTopic(job.id));
}
