// Creates the delivery of a job that became terminal and enqueues its message, both in the transaction that ends the job [webhooks.event-per-end].
import { newId } from "../contract/ids.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { insertDelivery } from "./store/deliveries.ts";
import type { TerminalEvent } from "./store/webhook-events.ts";
import { readEnabledWebhook } from "./store/webhooks.ts";
import { AGAIN_QUEUE, enqueue, FIRST_QUEUE } from "./queues.ts";
import type { WebhookServices } from "./services.ts";

export async function deliverOnTerminal(
  { queue }: Pick<WebhookServices, "queue">,
  tx: DatabaseTransaction,
  event: TerminalEvent,
): Promise<void> {
  const { id: eventId, workspaceId } = event;
  const webhook = await readEnabledWebhook(tx, workspaceId);
  if (webhook === undefined) return;
  const deliveryId = newId("delivery");
  if (!(await insertDelivery(tx, { ...event, id: deliveryId, eventId }))) return;
  const lane = webhook.failing_since === null ? FIRST_QUEUE : AGAIN_QUEUE;
  await enqueue(queue, { workspaceId, deliveryId, turn: 0 }, { lane, delaySeconds: 0 }, tx);
}
