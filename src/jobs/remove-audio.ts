// Deletes the audio of a job that has ended. If the object store cannot delete it now, the next sweep does [jobs.audio-retention].
import type { JobServices } from "./services.ts";
import { bypassRls } from "../storage/system.ts";

/** Returns false if the audio is still in the store. Never throws: the row still names the object, and the sweep deletes it later. */
export async function removeAudio(
  { objects, database, gateway, writes }: Pick<JobServices, "objects" | "database" | "gateway" | "writes">,
  jobId: string,
  audioKey: string,
): Promise<boolean> {
  try {
    await objects.remove(audioKey);
    await writes.forgetAudio(bypassRls(database, "claim").db, jobId);
    return true;
  } catch (error) {
    gateway.logger.warn({ job_id: jobId, err: error }, "the audio of a job that has ended could not be removed yet");
    return false;
  }
}
