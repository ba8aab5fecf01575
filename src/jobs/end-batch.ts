// Ends the jobs of this process that end at the same time in one transaction, of every app: one commit, and each statement once. A job alone has the same
// statements (docs/decisions/0053-jobs-share-transactions.md).
import { createBatcher } from "../lib/concurrency/batcher.ts";
import { isDatabaseUnavailable } from "../storage/database-faults.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { endLocked, type EndServices } from "./end-job.ts";
import type { EndInBatch, EndingJob, PendingEnd } from "./job-end.ts";
import { type RemovalServices, removeSpentAudio } from "./remove-audio.ts";
import type { JobServices } from "./services.ts";
import { lockFenced } from "./store/end-jobs.ts";

const MAX_BATCH = 32;
/**
 * Their results are one parameter, of which the driver makes several copies. One result is usually some kilobytes, but `stt_job_inline_result_bytes` limits
 * only what callers see of it, and may be 16 MiB.
 */
const MAX_RESULT_BYTES = 8 * 1024 * 1024;

export function createEndBatch(
  services: EndServices & RemovalServices & Pick<JobServices, "database" | "removals">,
): EndInBatch {
  const endTogether = async (batch: readonly PendingEnd[]): Promise<readonly (EndingJob | null)[]> => {
    const { ending, spentAudio } = await transact(bypassRls(services.database, "batch"), async (tx) => {
      const rows = await lockFenced(
        tx,
        batch.map(({ fence }) => fence),
      );
      const locked = new Map(rows.map((row) => [row.id, row]));
      const ending = batch.map(({ fence, endOf }): EndingJob | null => {
        const row = locked.get(fence.id);
        if (row === undefined || row.attempt !== fence.attempt) return null;
        // A second end of the same job would find that it has ended.
        locked.delete(fence.id);
        return { locked: row, end: endOf(row) };
      });
      const spentAudio = await endLocked(
        services,
        tx,
        ending.filter((each) => each !== null),
        { recordsAudio: true },
      );
      return { ending, spentAudio };
    });
    // No worker needs to wait for it.
    if (spentAudio !== null) services.removals.add(removeSpentAudio(services, spentAudio));
    return ending;
  };
  return createBatcher(endTogether, {
    maxItems: MAX_BATCH,
    maxWeight: MAX_RESULT_BYTES,
    weightOf: ({ resultBytes }) => resultBytes,
    isItemFault: (error) => !isDatabaseUnavailable(error),
  });
}
