// Deletes the audio of a job that has ended, at once or with the next sweep [jobs.audio-retention].
import { forgetAudio } from "../storage/job-sweep.ts";
import type { JobServices } from "./services.ts";
import { claims } from "../storage/system.ts";

/** False: it is still there. Never throws: the row names what is left, and the sweep comes by. */
export async function removeAudio(
  { objects, database, gateway }: Pick<JobServices, "objects" | "database" | "gateway">,
  jobId: string,
  audioKey: string,
): Promise<boolean> {
  try {
    await objects.remove(audioKey);
    await forgetAudio(claims(database).db, jobId);
    return true;
  } catch (error) {
    gateway.logger.warn({ job_id: jobId, err: error }, "the audio of a job that has ended could not be removed yet");
    return false;
  }
}
