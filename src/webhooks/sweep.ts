// The periodic sweep of webhooks: re-enqueues deliveries with a lost message, and deletes old deliveries and expired secrets.
import { runInBatches } from "../lib/concurrency/run-in-batches.ts";
import { AGAIN_QUEUE, enqueueAll } from "./queues.ts";
import type { WebhookServices } from "./services.ts";
import { purgeDeliveries, renewOverdue } from "./store/deliveries.ts";
import { purgePreviousSecrets } from "./store/webhooks.ts";
import { bypassRls } from "../storage/system.ts";

/** Longer than the queue takes to redeliver a message by itself. */
const OVERDUE_MINUTES = 10;
/** Retention of the log, and how far back `redeliver` works. */
export const KEPT_DAYS = 7;
const BATCH = 200;

export async function sweepWebhooks(
  { database, queue }: Pick<WebhookServices, "database" | "queue">,
  stopping?: AbortSignal,
): Promise<void> {
  await bypassRls(database, "sweep").transaction(async (tx) => {
    const overdue = await renewOverdue(tx, OVERDUE_MINUTES, BATCH);
    const messages = overdue.map((message) => ({ message, lane: AGAIN_QUEUE, delaySeconds: 0 }) as const);
    await enqueueAll(queue, messages, tx);
  });
  const { db } = bypassRls(database, "sweep");
  await runInBatches(BATCH, () => purgeDeliveries(db, KEPT_DAYS, BATCH), stopping);
  await purgePreviousSecrets(db);
}
