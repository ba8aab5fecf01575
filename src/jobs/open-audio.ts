// The audio of a job as its worker sends it: from the object store, where an upload is since its 202. The file of a URL is fetched, judged
// by the rules of an upload and stored there first, so that a successor need not fetch it again [jobs.url-judged-late].
import { objectBody } from "../audio/spool.ts";
import { GatewayError } from "../contract/errors.ts";
import { measureAudio } from "../gateway/transcription/measure-audio.ts";
import type { SpeechAudio } from "../providers/provider.ts";
import { writeAudio } from "../storage/job-work.ts";
import { enterStage } from "./enter-stage.ts";
import { type JobAudio, jobAudio, type OpenJob } from "./job-request.ts";
import { retryUntilDeadline, retryPolicyFor } from "./retry-policy.ts";
import { openRecording, type Recording } from "./recording.ts";
import type { JobServices } from "./services.ts";
import { JobStop } from "./stop.ts";
import { claims } from "../storage/system.ts";

export interface ReadyAudio {
  readonly speech: SpeechAudio;
  readonly measured: JobAudio;
  readonly recording: Recording;
  /** Of another reading, without the fault of this one. */
  readonly reopen: () => Recording;
}

export async function openAudio(services: JobServices, job: OpenJob, signal: AbortSignal): Promise<ReadyAudio> {
  if (job.audio !== null && job.audioKey !== null) return ready(services, job.audio, job.audioKey);
  const { url, hints } = job.request;
  if (url === null) throw new Error("a job with neither audio nor a URL");
  const { workspaceId } = job;
  const holders = { ...job.request.holders, workspace: { id: workspaceId } };
  await takeFetch(services, holders);
  await enterStage(services, job, { stage: "fetching", fraction: null });
  await using held = new AsyncDisposableStack();
  const maxBytes = services.limits.maxJobAudioUrlBytes;
  const { spooled, mediaType } = await services.gateway.remoteAudio
    .download({ workspaceId, url, maxBytes, signal })
    .catch((error: unknown) => {
      throw signal.aborted ? new JobStop("lost") : error;
    });
  held.defer(() => spooled.dispose());
  await enterStage(services, job, { stage: "measuring", fraction: null });
  const audio = jobAudio(
    await measureAudio(services.gateway, {
      audio: {
        kind: "spooled",
        spooled,
        param: "audio.url",
        // A caller's word about its own audio is weighed before that of the server it lies on.
        mediaTypeHint: hints?.mediaType ?? mediaType,
        fileNameHint: hints?.fileName ?? null,
      },
      workspaceId,
      signal,
    }).catch((error: unknown) => {
      throw signal.aborted ? new JobStop("lost") : error;
    }),
    await spooled.sha256(),
  );
  await services.gateway.quotas.takeAudio(holders, audio.facts.durationSeconds);
  const audioKey = `audio/${job.id}`;
  const insistence = retryPolicyFor(job, services, signal);
  // What was fetched once is not thrown away, nor an attempt spent, because the store has no room or is not there for a while.
  await retryUntilDeadline(
    insistence,
    () => services.objects.put(audioKey, objectBody(spooled), spooled.sizeBytes),
    () => true,
  );
  const written = await retryUntilDeadline(insistence, () =>
    writeAudio(claims(services.database).db, job, audio, audioKey),
  );
  if (!written) throw new JobStop("lost");
  return ready(services, audio, audioKey);
}

/** A job is never refused for a limit that passes: it waits without a worker. */
async function takeFetch(
  { gateway }: JobServices,
  holders: Parameters<JobServices["gateway"]["quotas"]["takeUrlFetch"]>[0],
): Promise<void> {
  try {
    await gateway.quotas.takeUrlFetch(holders);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "RATE_LIMITED")
      throw new JobStop("url_fetches", error.retryAfterSeconds ?? 1);
    throw error;
  }
}

function ready({ objects }: JobServices, measured: JobAudio, audioKey: string): ReadyAudio {
  const { facts, sha256 } = measured;
  const reopen = () => openRecording(objects, audioKey, { sizeBytes: facts.sizeBytes, sha256 });
  const recording = reopen();
  return { speech: { ...facts, open: recording.open }, measured, recording, reopen };
}
