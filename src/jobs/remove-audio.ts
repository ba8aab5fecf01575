// Deletes the audio of jobs that have ended. If the object store cannot delete it now, the next sweep does [jobs.audio-retention].
import type { JobServices } from "./services.ts";
import { bypassRls } from "../storage/system.ts";
import type { SpentAudio } from "./store/spent-audio.ts";
import { forgetAudio } from "./store/job-sweep.ts";

export type RemovalServices = Pick<JobServices, "objects" | "database" | "gateway" | "writes">;

/** Returns false if some is still in the store. Never throws: its record still exists, and the sweep deletes it later. */
export async function removeSpentAudio(
  { objects, database, gateway, writes }: RemovalServices,
  { id, keys }: SpentAudio,
): Promise<boolean> {
  try {
    await Promise.all(keys.map((key) => objects.remove(key)));
    await writes.forgetSpentAudio(bypassRls(database, "claim").db, id);
    return true;
  } catch (error) {
    gateway.logger.warn({ audio_keys: keys, err: error }, "audio of jobs that have ended could not be removed yet");
    return false;
  }
}

/** The same for audio that the job's row names. */
export async function removeAudio(
  { objects, database, gateway }: Pick<RemovalServices, "objects" | "database" | "gateway">,
  jobId: string,
  audioKey: string,
): Promise<boolean> {
  try {
    await objects.remove(audioKey);
    await forgetAudio(bypassRls(database, "sweep").db, jobId);
    return true;
  } catch (error) {
    gateway.logger.warn({ job_id: jobId, err: error }, "the audio of a job that has ended could not be removed yet");
    return false;
  }
}
