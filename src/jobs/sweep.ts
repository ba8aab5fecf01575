// What time does to jobs (contract 5), done every 10 s by every process with a worker: a silent worker's jobs are offered again, a
// deadline that passed in the queue ends its job, and what nobody may keep any longer goes.
import {
  beginOverdueJob,
  deleteOldJobs,
  expiredJobs,
  lapsedJobs,
  namedObjects,
  purgeJob,
  spentAudio,
} from "../storage/job-sweep.ts";
import { sweeps } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { endLocked } from "./end-job.ts";
import { deadlineExceeded, jobErrorOf } from "./job-error.ts";
import { JOBS_QUEUE, type JobServices, RESUMED_FIRST } from "./services.ts";
import { openSettlement } from "./settle-open.ts";
import { removeAudio } from "./spent-audio.ts";

/** Answers how many jobs were purged. */
export async function sweepJobs(services: JobServices): Promise<number> {
  await offerAgain(services);
  while (await endOverdue(services));
  await removeSpentAudio(services);
  return purgeExpired(services);
}

async function offerAgain({ database, queue }: JobServices): Promise<void> {
  await sweeps(database).transaction(async (tx) => {
    for (const { id, appId } of await lapsedJobs(tx))
      await queue.send(JOBS_QUEUE, { job_id: id }, { groupId: appId, priority: RESUMED_FIRST }, tx);
  });
}

/** Queued → processing → failed in one transaction; false when there is none. */
async function endOverdue(services: JobServices): Promise<boolean> {
  return transact(sweeps(services.database), async (tx) => {
    const row = await beginOverdueJob(tx);
    if (row === null) return false;
    const error = jobErrorOf(deadlineExceeded());
    await endLocked(services, tx, row, {
      status: "failed",
      error,
      settlement: openSettlement(row, "failed:not_called"),
    });
    return true;
  });
}

async function removeSpentAudio(services: JobServices): Promise<void> {
  for (const { id, audioKey } of await spentAudio(sweeps(services.database).db))
    await removeAudio(services, id, audioKey);
}

/** The object goes first: a row that still names it brings us back here. */
async function purgeExpired({ database, objects }: JobServices): Promise<number> {
  const expired = await expiredJobs(sweeps(database).db);
  for (const { id, resultKey } of expired) {
    if (resultKey !== null) await objects.remove(resultKey);
    await purgeJob(sweeps(database).db, id);
  }
  await deleteOldJobs(sweeps(database).db);
  return expired.length;
}

/** A submission or an attempt may still be about to name what it has put there. */
const ORPHAN_AFTER_MS = 3_600_000;
const BATCH = 200;

/** Objects that no row names: of a submission that died before its commit, or an attempt that lost its lease. */
export async function removeOrphans({ database, objects, gateway }: JobServices): Promise<void> {
  const before = new Date(gateway.now().getTime() - ORPHAN_AFTER_MS);
  for (const prefix of ["audio", "results"]) {
    let batch: string[] = [];
    const removeBatch = async (): Promise<void> => {
      const named = await namedObjects(sweeps(database).db, batch);
      for (const key of batch) if (!named.has(key)) await objects.remove(key);
      batch = [];
    };
    for await (const key of objects.listOlder(prefix, before)) {
      batch.push(key);
      if (batch.length === BATCH) await removeBatch();
    }
    await removeBatch();
  }
}
