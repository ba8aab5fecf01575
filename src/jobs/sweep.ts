// The periodic sweep of jobs: offers a dead worker's jobs again [jobs.dead-worker], ends jobs after their deadline in the queue [jobs.deadline] and purges
// expired data [jobs.result-retention]. Every process runs it.
import { runInBatches } from "../lib/concurrency/run-in-batches.ts";
import {
  beginOverdueJob,
  deleteOldJobs,
  type DueObject,
  expiredJobs,
  expiredResults,
  forgottenJobs,
  lapsedJobs,
  namedObjects,
  purgeJob,
  spentAudio,
  SWEPT_AT_ONCE,
} from "./store/job-sweep.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { endLocked } from "./end-job.ts";
import { deadlinePassed, jobErrorOf } from "./job-error.ts";
import { enqueueJob, type JobServices } from "./services.ts";
import { failedEnd } from "./run/settle-open.ts";
import { removeAudio, removeSpentAudio } from "./remove-audio.ts";
import { leftSpentAudio } from "./store/spent-audio.ts";

/**
 * How often lapsed leases are looked for, independently of other sweeps, because a purge takes as long as the object store does.
 * Another worker has a dead worker's job within 45 s [jobs.dead-worker], the sum of:
 *   30 s  the lease (jobs/store/claimed-jobs.ts), since the worker's last renewal
 *    2 s  the next look
 *    2 s  a poll (queue/dispatcher.ts), if the notification was lost
 *    9 s  if the first successor died before it had the job: 5 s until it is offered again (jobs/store/job-sweep.ts), a look, a poll
 * Time in which the database is unavailable or no worker has a free slot is added.
 */
export const LOOK_FOR_LAPSED_MS = 2_000;

export async function offerLapsed({ database, queue }: Pick<JobServices, "database" | "queue">): Promise<void> {
  await bypassRls(database, "sweep").transaction(async (tx) => {
    for (const job of await lapsedJobs(tx)) await enqueueJob(queue, job, { goesFirst: true }, tx);
  });
}

/** Runs every 10 s. */
export async function sweepJobs(services: JobServices, stopping?: AbortSignal): Promise<void> {
  await offerForgotten(services);
  await runInBatches(1, async () => ((await endOverdue(services)) ? 1 : 0), stopping);
}

export interface PurgeServices {
  /** Aborts a purge between two items: a shutdown waits neither for an object store nor for all that has expired. */
  readonly stopping?: AbortSignal;
  /** Called after each purged item, since more may follow. */
  readonly onPurged?: () => void;
}

/** Every 10 s, purges expired data in rows and deletes old rows. Calls no object store. */
export async function purgeJobs(services: JobServices, { stopping, onPurged }: PurgeServices = {}): Promise<void> {
  const { db } = bypassRls(services.database, "sweep");
  await runInBatches(SWEPT_AT_ONCE, async () => {
    const expired = await expiredJobs(db);
    for (const id of expired) {
      if (stopping?.aborted === true) return 0;
      await purgeJob(db, id);
      onPurged?.();
    }
    return expired.length;
  });
  await runInBatches(SWEPT_AT_ONCE, () => deleteOldJobs(db), stopping);
}

/**
 * Every 10 s, as a task of its own, so that nothing else waits for an object store. The object is deleted first, because a row that still names it is found
 * again.
 */
export async function purgeObjects(services: JobServices, { stopping, onPurged }: PurgeServices = {}): Promise<void> {
  const { db } = bypassRls(services.database, "sweep");
  const purgeResult = async ({ id, key }: DueObject): Promise<boolean> => {
    if (!(await removeObject(services, id, key))) return false;
    await purgeJob(db, id);
    onPurged?.();
    return true;
  };
  await removeDue(stopping, (skippedCount) => expiredResults(db, skippedCount), purgeResult);
  await removeDue(
    stopping,
    (skippedCount) => spentAudio(db, skippedCount),
    ({ id, key }) => removeAudio(services, id, key),
  );
  await removeLeftAudio(services, stopping);
}

/** Of jobs whose process died after their end, or that the store could not delete. Each record once. */
async function removeLeftAudio(services: JobServices, stopping: AbortSignal | undefined): Promise<void> {
  const { db } = bypassRls(services.database, "sweep");
  let after = 0n;
  await runInBatches(SWEPT_AT_ONCE, async () => {
    const left = await leftSpentAudio(db, after, SWEPT_AT_ONCE);
    for (const spentAudio of left) {
      if (stopping?.aborted === true) return 0;
      await removeSpentAudio(services, spentAudio);
      after = spentAudio.id;
    }
    return left.length;
  });
}

/** Processes each due object once. Objects that cannot be removed now are skipped, so that those behind them have their turn. */
async function removeDue(
  stopping: AbortSignal | undefined,
  listDueAfter: (skippedCount: number) => Promise<readonly DueObject[]>,
  remove: (object: DueObject) => Promise<boolean>,
): Promise<void> {
  let skippedCount = 0;
  await runInBatches(SWEPT_AT_ONCE, async () => {
    const due = await listDueAfter(skippedCount);
    for (const object of due) {
      if (stopping?.aborted === true) return 0;
      if (!(await remove(object))) skippedCount += 1;
    }
    return due.length;
  });
}

async function offerForgotten({ database, queue }: JobServices): Promise<void> {
  await bypassRls(database, "sweep").transaction(async (tx) => {
    for (const job of await forgottenJobs(tx)) await enqueueJob(queue, job, { goesFirst: true }, tx);
  });
}

/** Moves a job from queued to processing to failed in one transaction. Returns false if there is none. */
async function endOverdue(services: JobServices): Promise<boolean> {
  return transact(bypassRls(services.database, "sweep"), async (tx) => {
    const row = await beginOverdueJob(tx);
    if (row === null) return false;
    const end = failedEnd(services, row, jobErrorOf(deadlinePassed(row.call_state)));
    await endLocked(services, tx, [{ locked: row, end }]);
    return true;
  });
}

/** Returns false if the store cannot delete the object now. It is retried in a later sweep and delays no other. */
async function removeObject({ objects, gateway }: JobServices, jobId: string, key: string): Promise<boolean> {
  try {
    await objects.remove(key);
    return true;
  } catch (error) {
    gateway.logger.warn({ job_id: jobId, err: error }, "an object of a job could not be removed yet");
    return false;
  }
}

/** A submission or an attempt may be about to write the row that names its object. */
const ORPHAN_AFTER_MS = 3_600_000;
const BATCH = 200;

/** Removes objects that no row names: of a submission that died before its commit, or of an attempt that lost its lease. */
export async function removeOrphans(services: JobServices, stopping?: AbortSignal): Promise<void> {
  const { database, objects, gateway } = services;
  const before = new Date(gateway.now().getTime() - ORPHAN_AFTER_MS);
  for (const prefix of ["audio", "results"]) {
    let batch: string[] = [];
    const removeBatch = async (): Promise<void> => {
      const named = await namedObjects(bypassRls(database, "sweep").db, batch);
      for (const key of batch) {
        if (stopping?.aborted === true) return;
        if (!named.has(key)) await removeObject(services, key.split("/")[1] ?? "", key);
      }
      batch = [];
    };
    for await (const key of objects.listOlder(prefix, before)) {
      if (stopping?.aborted === true) return;
      batch.push(key);
      if (batch.length === BATCH) await removeBatch();
    }
    await removeBatch();
  }
}
