// Waits while the object store cannot return a job's recording [jobs.recording-unreadable]. The call that would send it was certainly not made, so the
// reservation stays and the job waits, at most until its deadline.
import { setTimeout as wait } from "node:timers/promises";
import { bypassRls } from "../../storage/system.ts";
import { withdrawCall } from "../store/claimed-jobs.ts";
import { enterStage } from "./enter-stage.ts";
import { retryUntilDeadline, retryPolicyFor } from "./retry-policy.ts";
import { type OpenJob, openJob } from "../job-request.ts";
import type { ReadyAudio } from "./open-audio.ts";
import type { Recording, RecordingFault } from "./recording.ts";
import type { WorkerServices } from "../services.ts";
import { LeaseLostError, WorkerStoppingError } from "../interruptions.ts";

const MIN_PAUSE_MS = 200;
const MAX_PAUSE_MS = 15_000;

/** Returns the job as its row is after the wait. Throws the reason if the job must stop instead. */
export async function awaitRecording(
  services: WorkerServices,
  job: OpenJob,
  { reopen }: Pick<ReadyAudio, "reopen">,
  first: RecordingFault,
  signal: AbortSignal,
): Promise<OpenJob> {
  const { gateway, database, stopping } = services;
  const retryPolicy = retryPolicyFor(job, services, signal);
  gateway.logger.warn({ job_id: job.id, err: first.error.cause, event: "job.recording_unreadable" });
  const withdrawnRow = await retryUntilDeadline(retryPolicy, () => withdrawCall(bypassRls(database, "claim").db, job));
  if (withdrawnRow === null) throw new LeaseLostError();
  const stopSignal = AbortSignal.any([signal, stopping]);
  let fault: RecordingFault | null = first;
  for (let pauseMs = MIN_PAUSE_MS; fault !== null; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    if (!fault.mayPass || gateway.now() >= job.deadlineAt) throw fault.error;
    await wait(pauseMs, undefined, { signal: stopSignal, ref: false }).catch(() => undefined);
    if (stopping.aborted) throw new WorkerStoppingError();
    if (signal.aborted) throw new LeaseLostError();
    await retryUntilDeadline(retryPolicy, () => enterStage(services, job, { stage: "transcribing", fraction: null }));
    fault = await findFault(reopen());
  }
  return openJob(services.seal, withdrawnRow);
}

async function findFault(recording: Recording): Promise<RecordingFault | null> {
  try {
    for await (const _ of recording.open());
  } catch (error) {
    if (recording.fault() === null) throw error;
  }
  return recording.fault();
}
