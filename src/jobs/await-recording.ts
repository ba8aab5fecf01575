// A recording that the store cannot return for a while does not end its job [jobs.recording-unreadable]: the call that was to send it was
// certainly not made, so the reservation stays and the attempt waits until the recording can be read whole again, up to the job's deadline.
import { setTimeout as wait } from "node:timers/promises";
import { claims } from "../storage/system.ts";
import { withdrawCall } from "../storage/job-work.ts";
import { enterStage } from "./enter-stage.ts";
import { retryUntilDeadline, retryPolicyFor } from "./retry-policy.ts";
import { type OpenJob, openJob } from "./job-request.ts";
import type { ReadyAudio } from "./open-audio.ts";
import type { Recording, RecordingFault } from "./recording.ts";
import type { WorkerServices } from "./services.ts";
import { JobStop } from "./stop.ts";

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 15_000;

/** The job as its row tells it by now. Throws what ends the wait otherwise. */
export async function awaitRecording(
  services: WorkerServices,
  job: OpenJob,
  { reopen }: Pick<ReadyAudio, "reopen">,
  first: RecordingFault,
  signal: AbortSignal,
): Promise<OpenJob> {
  const { gateway, database, stopping } = services;
  const insistence = retryPolicyFor(job, services, signal);
  gateway.logger.warn({ job_id: job.id, err: first.error.cause, event: "job.recording_unreadable" });
  const withdrawn = await retryUntilDeadline(insistence, () => withdrawCall(claims(database).db, job));
  if (withdrawn === null) throw new JobStop("lost");
  const wake = AbortSignal.any([signal, stopping]);
  let fault: RecordingFault | null = first;
  for (let pauseMs = FIRST_PAUSE_MS; fault !== null; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (!fault.mayPass || gateway.now() >= job.deadlineAt) throw fault.error;
    await wait(pauseMs, undefined, { signal: wake, ref: false }).catch(() => undefined);
    if (stopping.aborted) throw new JobStop("handed_back");
    if (signal.aborted) throw new JobStop("lost");
    await retryUntilDeadline(insistence, () => enterStage(services, job, { stage: "transcribing", fraction: null }));
    fault = await readThrough(reopen());
  }
  return openJob(services.seal, withdrawn);
}

async function readThrough(recording: Recording): Promise<RecordingFault | null> {
  try {
    for await (const _ of recording.open());
  } catch (error) {
    if (recording.fault() === null) throw error;
  }
  return recording.fault();
}
