// Opens a job's audio from the object store, where an upload is since its 202 response. A URL is fetched, validated like an upload and stored there first, so
// that a successor need not fetch it again [jobs.url-judged-late].
import { type KeptAudio, objectBody } from "../../audio/spool.ts";
import { GatewayError } from "../../contract/errors.ts";
import { measureAudio } from "../../gateway/transcription/measure-audio.ts";
import type { SpeechAudio } from "../../providers/provider.ts";
import { writeAudio } from "../store/claimed-jobs.ts";
import { enterStage } from "./enter-stage.ts";
import { type JobAudio, jobAudio, type OpenJob } from "../job-request.ts";
import { retryUntilDeadline, retryPolicyFor } from "./retry-policy.ts";
import { keptRecording, openRecording, type Recording } from "./recording.ts";
import type { JobServices } from "../services.ts";
import { FetchLimitError, LeaseLostError } from "../interruptions.ts";
import { bypassRls } from "../../storage/system.ts";

export interface ReadyAudio {
  readonly speech: SpeechAudio;
  readonly measured: JobAudio;
  readonly recording: Recording;
  /** Opens the recording again, without the fault of the first read. */
  readonly reopen: () => Recording;
}

/** `kept`: the recording, if it is in memory. */
export async function openAudio(
  services: JobServices,
  job: OpenJob,
  signal: AbortSignal,
  kept: KeptAudio | null,
): Promise<ReadyAudio> {
  if (job.audio !== null && job.audioKey !== null) return readyAudio(services, job.audio, job.audioKey, kept);
  const { url, hints } = job.request;
  if (url === null) throw new Error("a job with neither audio nor a URL");
  const { workspaceId } = job;
  const holders = { ...job.request.holders, workspace: { id: workspaceId } };
  await takeFetch(services, holders);
  await enterStage(services, job, { stage: "fetching", fraction: null });
  await using cleanup = new AsyncDisposableStack();
  const maxBytes = services.limits.maxJobAudioUrlBytes;
  const { spooled, mediaType } = await services.gateway.remoteAudio
    .download({ workspaceId, url, maxBytes, signal })
    .catch((error: unknown) => {
      throw signal.aborted ? new LeaseLostError() : error;
    });
  cleanup.defer(() => spooled.dispose());
  await enterStage(services, job, { stage: "measuring", fraction: null });
  const audio = jobAudio(
    await measureAudio(services.gateway, {
      audio: {
        kind: "spooled",
        spooled,
        param: "audio.url",
        // The caller's hint takes precedence over the header of the server that hosts the file.
        mediaTypeHint: hints?.mediaType ?? mediaType,
        fileNameHint: hints?.fileName ?? null,
      },
      workspaceId,
      signal,
    }).catch((error: unknown) => {
      throw signal.aborted ? new LeaseLostError() : error;
    }),
    await spooled.sha256(),
  );
  await services.gateway.quotas.takeAudio(holders, audio.facts.durationSeconds);
  const audioKey = `audio/${job.id}`;
  const retryPolicy = retryPolicyFor(job, services, signal);
  // Retried, so that a store that is full or unavailable for a while costs neither the fetched file nor an attempt.
  await retryUntilDeadline(
    retryPolicy,
    () => services.objects.put(audioKey, objectBody(spooled), spooled.sizeBytes),
    () => true,
  );
  const isWritten = await retryUntilDeadline(retryPolicy, () =>
    writeAudio(bypassRls(services.database, "claim").db, job, audio, audioKey),
  );
  if (!isWritten) throw new LeaseLostError();
  return readyAudio(services, audio, audioKey, null);
}

/** A rate limit never fails a job: the job waits for it without occupying a worker. */
async function takeFetch(
  { gateway }: JobServices,
  holders: Parameters<JobServices["gateway"]["quotas"]["takeUrlFetch"]>[0],
): Promise<void> {
  try {
    await gateway.quotas.takeUrlFetch(holders);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "RATE_LIMITED")
      throw new FetchLimitError(error.retryAfterSeconds ?? 1);
    throw error;
  }
}

function readyAudio(
  { objects }: JobServices,
  measured: JobAudio,
  audioKey: string,
  kept: KeptAudio | null,
): ReadyAudio {
  const { facts, sha256 } = measured;
  const reopen = () => openRecording(objects, audioKey, { sizeBytes: facts.sizeBytes, sha256 });
  const recording = kept === null ? reopen() : keptRecording(kept);
  return { speech: { ...facts, open: recording.open }, measured, recording, reopen };
}
