// The boundary between two stages of a job's work: records progress, and checks whether the job is still wanted and still this worker's
// [jobs.cancel-processing] [jobs.fenced-writes].
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
