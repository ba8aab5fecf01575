// What a message of the queue sets off: claim, attempt, record (contract 6). At least once: between the receiver's answer and
// our record the process may die, and the same event is sent again.
import { z } from "zod";
import { brand } from "../contract/ids.ts";
import { attemptDelivery } from "./attempt.ts";
import { claimDelivery } from "./claim.ts";
import { AGAIN_QUEUE, type DeliveryMessage, enqueue } from "./queues.ts";
import { recordAttempt } from "./record-attempt.ts";
import type { WebhookServices } from "./services.ts";

/** Until one of a receiver's running deliveries may be over. */
const BUSY_SECONDS = 2;

const message = z.object({
  workspaceId: z.string().transform((id) => brand("workspace", id)),
  deliveryId: z.string().transform((id) => brand("delivery", id)),
  turn: z.int(),
});

export function readMessage(data: unknown): DeliveryMessage {
  return message.parse(data);
}

export async function deliver(services: WebhookServices, due: DeliveryMessage): Promise<void> {
  const claim = await claimDelivery(services, due);
  switch (claim.kind) {
    case "stale":
      return;
    case "busy":
      await enqueue(services.queue, due, { lane: AGAIN_QUEUE, delaySeconds: BUSY_SECONDS });
      return;
    case "claimed":
      await recordAttempt(services, claim.delivery, await attemptDelivery(services, claim.delivery));
  }
}
