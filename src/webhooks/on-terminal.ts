// Creates the deliveries of jobs that became terminal and enqueues their messages, both in the transaction that ends the jobs [webhooks.event-per-end].
import { newId } from "../contract/ids.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { insertDeliveries } from "./store/deliveries.ts";
import type { TerminalEvent } from "./store/webhook-events.ts";
import { AGAIN_QUEUE, enqueueAll, FIRST_QUEUE } from "./queues.ts";
import type { WebhookServices } from "./services.ts";

export async function deliverOnTerminal(
  { queue }: { readonly queue: Pick<WebhookServices["queue"], "sendAll"> },
  tx: DatabaseTransaction,
  events: readonly TerminalEvent[],
): Promise<void> {
  const deliveries = events.map((event) => ({ ...event, id: newId("delivery"), eventId: event.id }));
  const inserted = await insertDeliveries(tx, deliveries);
  const messages = deliveries.flatMap(({ id, workspaceId }) => {
    const delivery = inserted.get(id);
    if (delivery === undefined) return [];
    const message = { workspaceId, deliveryId: id, turn: 0 };
    return [{ message, lane: delivery.isFailing ? AGAIN_QUEUE : FIRST_QUEUE, delaySeconds: 0 } as const];
  });
  await enqueueAll(queue, messages, tx);
}
