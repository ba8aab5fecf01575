// DELETE of a job: cancels it immediately while it is queued, sets a flag while it is processing, which its worker reads in
// `run/enter-stage.ts`, and does nothing after its end [jobs.cancel-queued] [jobs.cancel-processing].
import type { AnswerRoom } from "../lib/answer-room.ts";
import { wakeCancelled } from "./store/claimed-jobs.ts";
import { type JobOwner, lockJob, requestCancel } from "./store/jobs.ts";
import { markPostCommitFailure } from "../storage/transact.ts";
import { describeJob, type JobView } from "./read/describe-job.ts";
import { endLocked } from "./end-job.ts";
import { findJob, noSuchJob } from "./read/read-job.ts";
import type { JobServices } from "./services.ts";
import { cancelTopic, jobTopic } from "./topics.ts";
import { openSettlement } from "./run/settle-open.ts";

/** Returns the job after the change. If the job had already ended, its status shows how. */
export async function cancelJob(
  services: JobServices,
  owner: JobOwner,
  id: string,
  room: AnswerRoom,
): Promise<JobView> {
  await services.database.inWorkspace(owner.workspaceId, async (tx) => {
    const row = await lockJob(tx, owner, id);
    if (row === null) throw noSuchJob();
    if (row.status === "queued") {
      const end = { status: "cancelled", settlement: openSettlement(row, "failed:cancelled") } as const;
      await endLocked(services, tx, [{ locked: row, end }]);
    } else if (row.status === "processing") {
      await requestCancel(tx, owner, id);
      await wakeCancelled(tx, id);
      await services.queue.publish([jobTopic(id), cancelTopic(id)], tx);
    }
  });
  return describeJob(services, await markPostCommitFailure(findJob(services, owner, id)), room);
}
