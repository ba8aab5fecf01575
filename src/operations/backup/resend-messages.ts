// Sends the queue's messages again from the waiting rows, after the rows were copied into another database.
import type { Configuration } from "../../config/configuration.ts";
import { brand } from "../../contract/ids.ts";
import { enqueueJob, JOB_QUEUES } from "../../jobs/services.ts";
import { createQueue, type Queue } from "../../queue/queue.ts";
import type { Database, SystemTransaction } from "../../storage/database.ts";
import { AGAIN_QUEUE, enqueue, webhookQueues } from "../../webhooks/queues.ts";
import { listPendingDeliveries, listQueuedJobs } from "../store/waiting-rows.ts";

/** Runs `work` with a started queue that `resendMessages` can use. */
export async function withQueue<T>(
  database: Database,
  { limits }: Pick<Configuration, "limits">,
  work: (queue: Queue) => Promise<T>,
): Promise<T> {
  const queue = createQueue({
    database,
    queues: { ...JOB_QUEUES, ...webhookQueues(limits.webhookTimeoutSeconds * 1000) },
    onError: () => undefined,
  });
  await queue.start();
  try {
    return await work(queue);
  } finally {
    await queue.stop();
  }
}

/** Sends one message per waiting row and returns their number. A job in progress has a lease, and is queued again when it expires. */
export async function resendMessages(queue: Queue, tx: SystemTransaction): Promise<number> {
  const jobs = await listQueuedJobs(tx);
  for (const { id, app_id: appId } of jobs) await enqueueJob(queue, { id, appId }, { goesFirst: false }, tx);
  const deliveries = await listPendingDeliveries(tx);
  for (const { id, workspace_id: workspace, turn, delaySeconds } of deliveries) {
    const message = { workspaceId: brand("workspace", workspace), deliveryId: brand("delivery", id), turn };
    await enqueue(queue, { message, lane: AGAIN_QUEUE, delaySeconds }, tx);
  }
  return jobs.length + deliveries.length;
}
