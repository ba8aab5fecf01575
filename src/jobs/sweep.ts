// The periodic sweep of jobs: offers a silent worker's jobs again [jobs.dead-worker], ends jobs whose deadline passed in the queue
// [jobs.deadline], and purges what has expired [jobs.result-retention]. Every process does it.
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
} from "../storage/job-sweep.ts";
import { sweeps } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { endLocked } from "./end-job.ts";
import { deadlinePassed, jobErrorOf } from "./job-error.ts";
import { enqueueJob, type JobServices } from "./services.ts";
import { failedEnd } from "./settle-open.ts";
import { removeAudio } from "./spent-audio.ts";

/**
 * How often lapsed leases are looked for, independently of other sweeps: a purge takes as long as the object store does. A dead worker's job
 * is with another within 45 s [jobs.dead-worker], being the sum of
 *   30 s  its lease (storage/job-work.ts), from its worker's last sign of life,
 *    2 s  the next look,
 *    2 s  a poll (queue/dispatcher.ts), where the notification was lost, and,
 *    9 s  where the first successor died before it had the job: 5 s until it is offered again (storage/job-sweep.ts), a look, a poll.
 * The time in which the database is unavailable or no worker has a free slot is added.
 */
export const LOOK_FOR_LAPSED_MS = 2_000;

export async function offerLapsed({ database, queue }: Pick<JobServices, "database" | "queue">): Promise<void> {
  await sweeps(database).transaction(async (tx) => {
    for (const job of await lapsedJobs(tx)) await enqueueJob(queue, job, { goesFirst: true }, tx);
  });
}

/** Every 10 s. */
export async function sweepJobs(services: JobServices, stopping?: AbortSignal): Promise<void> {
  await offerForgotten(services);
  await runInBatches(1, async () => ((await endOverdue(services)) ? 1 : 0), stopping);
}

export interface Purging {
  /** Once it is aborted, nothing further is purged: a stop waits for no object store, nor for all that expired meanwhile. */
  readonly stopping?: AbortSignal;
  /** Some were, and more may follow. */
  readonly onPurged?: () => void;
}

/** Every 10 s: what expired in its row, and rows of long ago. Asks no object store. */
export async function purgeJobs(services: JobServices, { stopping, onPurged }: Purging = {}): Promise<void> {
  const { db } = sweeps(services.database);
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

/** Every 10 s, by itself: nothing else waits for an object store. The object goes first: a row that still names it brings us back here. */
export async function purgeObjects(services: JobServices, { stopping, onPurged }: Purging = {}): Promise<void> {
  const { db } = sweeps(services.database);
  const purgeResult = async ({ id, key }: DueObject): Promise<boolean> => {
    if (!(await isRemoved(services, id, key))) return false;
    await purgeJob(db, id);
    onPurged?.();
    return true;
  };
  await inTurn(stopping, (kept) => expiredResults(db, kept), purgeResult);
  await inTurn(
    stopping,
    (kept) => spentAudio(db, kept),
    ({ id, key }) => removeAudio(services, id, key),
  );
}

/** All that is due, each once: however much of it is kept for now, what is behind it has its turn. */
async function inTurn(
  stopping: AbortSignal | undefined,
  dueBehind: (kept: number) => Promise<readonly DueObject[]>,
  isGone: (object: DueObject) => Promise<boolean>,
): Promise<void> {
  let kept = 0;
  await runInBatches(SWEPT_AT_ONCE, async () => {
    const due = await dueBehind(kept);
    for (const object of due) {
      if (stopping?.aborted === true) return 0;
      if (!(await isGone(object))) kept += 1;
    }
    return due.length;
  });
}

async function offerForgotten({ database, queue }: JobServices): Promise<void> {
  await sweeps(database).transaction(async (tx) => {
    for (const job of await forgottenJobs(tx)) await enqueueJob(queue, job, { goesFirst: true }, tx);
  });
}

/** Queued → processing → failed in one transaction; false when there is none. */
async function endOverdue(services: JobServices): Promise<boolean> {
  return transact(sweeps(services.database), async (tx) => {
    const row = await beginOverdueJob(tx);
    if (row === null) return false;
    await endLocked(services, tx, row, failedEnd(services, row, jobErrorOf(deadlinePassed(row.call_state))));
    return true;
  });
}

/** False: the store keeps it for now. One such object holds up no other; it is come back to. */
async function isRemoved({ objects, gateway }: JobServices, jobId: string, key: string): Promise<boolean> {
  try {
    await objects.remove(key);
    return true;
  } catch (error) {
    gateway.logger.warn({ job_id: jobId, err: error }, "an object of a job could not be removed yet");
    return false;
  }
}

/** A submission or an attempt may still be about to name what it has put there. */
const ORPHAN_AFTER_MS = 3_600_000;
const BATCH = 200;

/** Objects that no row names: of a submission that died before its commit, or an attempt that lost its lease. */
export async function removeOrphans(services: JobServices, stopping?: AbortSignal): Promise<void> {
  const { database, objects, gateway } = services;
  const before = new Date(gateway.now().getTime() - ORPHAN_AFTER_MS);
  for (const prefix of ["audio", "results"]) {
    let batch: string[] = [];
    const removeBatch = async (): Promise<void> => {
      const named = await namedObjects(sweeps(database).db, batch);
      for (const key of batch) {
        if (stopping?.aborted === true) return;
        if (!named.has(key)) await isRemoved(services, key.split("/")[1] ?? "", key);
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
