// Handles a queue message of a delivery: claim, attempt, record. Delivery is at least once [webhooks.at-least-once]: if the process dies between the
// receiver's response and the record, the same event is sent again.
import { z } from "zod";
import { brand } from "../contract/ids.ts";
import type { Queue } from "../queue/queue.ts";
import { attemptDelivery } from "./attempt.ts";
import { claimDelivery, releaseClaim } from "./claim.ts";
import {
  AGAIN_QUEUE,
  CONCURRENCY,
  type DeliveryMessage,
  enqueue,
  FIRST_QUEUE,
  type Lane,
  PER_RECEIVER,
} from "./queues.ts";
import { recordAttempt } from "./record-attempt.ts";
import type { WebhookServices } from "./services.ts";

/** Delay after which one of the receiver's running deliveries may have ended. */
const BUSY_SECONDS = 2;

const message = z.object({
  workspaceId: z.string().transform((id) => brand("workspace", id)),
  deliveryId: z.string().transform((id) => brand("delivery", id)),
  turn: z.int(),
});

export function readMessage(data: unknown): DeliveryMessage {
  return message.parse(data);
}

interface DeliverOptions {
  /** Queue to which a message returns if its receiver is busy. */
  readonly lane?: Lane;
  /** Aborts the attempt when the process stops. The queue redelivers its message. */
  readonly signal?: AbortSignal;
}

export async function deliver(
  services: WebhookServices,
  dueMessage: DeliveryMessage,
  { lane = FIRST_QUEUE, signal }: DeliverOptions = {},
): Promise<void> {
  const claim = await claimDelivery(services, dueMessage);
  switch (claim.kind) {
    case "stale":
      return;
    case "busy":
      await enqueue(services.queue, dueMessage, { lane, delaySeconds: BUSY_SECONDS });
      return;
    case "claimed": {
      const attempt = await attemptDelivery(services, claim.delivery, signal).catch(async (error: unknown) => {
        await releaseClaim(services, dueMessage);
        throw error;
      });
      await recordAttempt(services, claim.delivery, attempt);
    }
  }
}

/** Starts the workers for deliveries that `deliverOnTerminal` and failed attempts enqueue. */
export function startDeliveries(
  services: WebhookServices,
  queue: Pick<Queue, "work">,
  concurrency: Readonly<Record<Lane, number>> = CONCURRENCY,
): void {
  for (const lane of [FIRST_QUEUE, AGAIN_QUEUE] as const)
    queue.work(lane, {
      concurrency: concurrency[lane],
      perGroup: PER_RECEIVER,
      handler: ({ data, signal }) => deliver(services, readMessage(data), { lane, signal }),
    });
}
