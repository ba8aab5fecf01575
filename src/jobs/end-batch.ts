// Ends the jobs of this process that end at the same time in one transaction, of every app: one commit, and each statement once. A job alone has the same
// statements.
import { createBatcher } from "../lib/concurrency/batcher.ts";
import { isDatabaseUnavailable } from "../storage/database-faults.ts";
import type { JobRow } from "../storage/schema/tables.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { endLocked, type EndingJob, type JobEnd } from "./end-job.ts";
import type { JobServices } from "./services.ts";
import { lockFenced } from "./store/end-jobs.ts";
import type { Fence } from "./store/claimed-jobs.ts";

export interface PendingEnd {
  readonly services: JobServices;
  readonly fence: Fence;
  readonly endOf: (locked: JobRow) => JobEnd;
}

/** Returns the job as it was locked, and its end. Null: another worker has the job, and nothing was changed. */
export type EndInBatch = (pending: PendingEnd) => Promise<EndingJob | null>;

/** Their results are parameters of one statement, each of at most `stt_job_inline_result_bytes`. */
const MAX_BATCH = 32;

export function createEndBatch(): EndInBatch {
  return createBatcher(endTogether, { maxItems: MAX_BATCH, isItemFault: (error) => !isDatabaseUnavailable(error) });
}

/** Of two ends of one job in one batch, which only a bug could make, the first wins: the second one finds no job of its attempt. */
async function endTogether(batch: readonly PendingEnd[]): Promise<readonly (EndingJob | null)[]> {
  const [first] = batch;
  if (first === undefined) return [];
  // All jobs of a process have the same services.
  const { services } = first;
  return transact(bypassRls(services.database, "batch"), async (tx) => {
    const locked = new Map(
      (
        await lockFenced(
          tx,
          batch.map(({ fence }) => fence),
        )
      ).map((row) => [row.id, row]),
    );
    const ending = batch.map(({ fence, endOf }): EndingJob | null => {
      const row = locked.get(fence.id);
      if (row === undefined || row.attempt !== fence.attempt) return null;
      locked.delete(fence.id);
      return { locked: row, end: endOf(row) };
    });
    await endLocked(
      services,
      tx,
      ending.filter((each) => each !== null),
    );
    return ending;
  });
}
