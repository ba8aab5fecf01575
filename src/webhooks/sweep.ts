// The periodic sweep of webhooks: re-enqueues deliveries with a lost message, and deletes old deliveries and expired secrets.
import { sql } from "kysely";
import { brand } from "../contract/ids.ts";
import { runInBatches } from "../lib/concurrency/run-in-batches.ts";
import { AGAIN_QUEUE, enqueue } from "./queues.ts";
import type { WebhookServices } from "./services.ts";
import { sweeps } from "../storage/system.ts";

/** Longer than the queue takes to redeliver a message by itself. */
const OVERDUE_MINUTES = 10;
/** Retention of the log, and how far back `redeliver` works. */
export const KEPT_DAYS = 7;
const BATCH = 200;

export async function sweepWebhooks(
  { database, queue }: Pick<WebhookServices, "database" | "queue">,
  stopping?: AbortSignal,
): Promise<void> {
  await sweeps(database).transaction(async (tx) => {
    const overdue = await tx
      .updateTable("webhook_deliveries")
      // So that the next sweep does not find it again.
      .set({ next_attempt_at: sql<Date>`patchbay_now()` })
      .where("id", "in", (from) =>
        from
          .selectFrom("webhook_deliveries")
          .select("id")
          .where("state", "=", "pending")
          .where("next_attempt_at", "<", sql<Date>`patchbay_now() - make_interval(mins => ${OVERDUE_MINUTES})`)
          .orderBy("next_attempt_at")
          .limit(BATCH)
          .forUpdate()
          .skipLocked(),
      )
      .returning(["id", "workspace_id", "turn"])
      .execute();
    for (const { id, workspace_id: workspace, turn } of overdue) {
      const message = { workspaceId: brand("workspace", workspace), deliveryId: brand("delivery", id), turn };
      await enqueue(queue, message, { lane: AGAIN_QUEUE, delaySeconds: 0 }, tx);
    }
  });
  const deleteOld = async (): Promise<number> => {
    const { numAffectedRows } = await sql`delete from webhook_deliveries where id in (
      select id from webhook_deliveries
      where created_at < patchbay_now() - make_interval(days => ${KEPT_DAYS}) and state <> 'pending' limit ${BATCH})`.execute(
      sweeps(database).db,
    );
    return Number(numAffectedRows ?? 0n);
  };
  await runInBatches(BATCH, deleteOld, stopping);
  await sql`update webhooks set previous_secret = null, previous_secret_until = null
    where previous_secret_until <= patchbay_now()`.execute(sweeps(database).db);
}
