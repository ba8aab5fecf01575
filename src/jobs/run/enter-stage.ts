// Records that a job enters the next stage of its work, and stops the worker there if the job was cancelled or taken over [jobs.cancel-processing]
// [jobs.fenced-writes].
import type { RecordedCandidate } from "../../gateway/request-record.ts";
import { type Progress, writeProgress } from "../store/claimed-jobs.ts";
import { bypassRls } from "../../storage/system.ts";
import type { OpenJob } from "../job-request.ts";
import type { JobServices } from "../services.ts";
import { progressTopic } from "../topics.ts";
import { JobCancelledError, LeaseLostError } from "../interruptions.ts";

/** Throws an interruption if the job was cancelled or is another worker's. */
export async function enterStage(
  services: JobServices,
  job: OpenJob,
  progress: Progress,
  candidates?: readonly RecordedCandidate[],
): Promise<void> {
  const written = await writeProgress(bypassRls(services.database, "claim").db, job, progress, candidates);
  if (written === null) throw new LeaseLostError();
  if (written.cancelRequested) throw new JobCancelledError();
  await services.queue.publish(progressTopic(job.id));
}
