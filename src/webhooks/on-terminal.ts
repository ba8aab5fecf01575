// Creates the delivery of a job that became terminal and enqueues its message, both in the transaction that ends the job [webhooks.event-per-end].
import { sql } from "kysely";
import { newId } from "../contract/ids.ts";
import type { Transacting } from "../storage/database.ts";
import type { TerminalEvent } from "./store/webhook-events.ts";
import { AGAIN_QUEUE, enqueue, FIRST_QUEUE } from "./queues.ts";
import type { WebhookServices } from "./services.ts";

export async function deliverOnTerminal(
  { queue }: Pick<WebhookServices, "queue">,
  tx: Transacting,
  event: TerminalEvent,
): Promise<void> {
  const { id: eventId, workspaceId, appId, jobId, status, occurredAt } = event;
  const webhook = await tx
    .selectFrom("webhooks")
    .select(["failing_since"])
    .where("workspace_id", "=", workspaceId)
    .where("enabled", "=", true)
    .executeTakeFirst();
  if (webhook === undefined) return;
  const deliveryId = newId("delivery");
  const inserted = await tx
    .insertInto("webhook_deliveries")
    .values({
      id: deliveryId,
      workspace_id: workspaceId,
      app_id: appId,
      event_id: eventId,
      job_id: jobId,
      job_status: status,
      occurred_at: occurredAt,
      next_attempt_at: sql<Date>`patchbay_now()`,
    })
    .onConflict((conflict) => conflict.columns(["workspace_id", "event_id"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) return;
  const lane = webhook.failing_since === null ? FIRST_QUEUE : AGAIN_QUEUE;
  await enqueue(queue, { workspaceId, deliveryId, turn: 0 }, { lane, delaySeconds: 0 }, tx);
}
