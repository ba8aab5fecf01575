// Handles a queue message of a delivery: claim, attempt, record. Delivery is at least once [webhooks.at-least-once]: if the process dies between the
// receiver's response and the record, the same event is sent again.
import { z } from "zod";
import { brand } from "../contract/ids.ts";
import type { Queue } from "../queue/queue.ts";
import { attemptDelivery, type AttemptServices } from "./attempt.ts";
import { AGAIN_QUEUE, CONCURRENCY, type DeliveryMessage, FIRST_QUEUE, type Lane, PER_RECEIVER } from "./queues.ts";
import type { WebhookServices } from "./services.ts";

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
  /** The receiver has answered: the next delivery may be claimed, in the batch that records this one or a later one. */
  readonly onAttempted?: () => void;
}

export async function deliver(
  services: Pick<WebhookServices, "writes" | keyof AttemptServices>,
  dueMessage: DeliveryMessage,
  { lane = FIRST_QUEUE, signal, onAttempted }: DeliverOptions = {},
): Promise<void> {
  const { writes } = services;
  const claim = await writes.claim(dueMessage, lane);
  if (claim.kind !== "claimed") return;
  const { delivery } = claim;
  const attempt = await attemptDelivery(services, delivery, signal).catch(async (error: unknown) => {
    await writes.release(delivery);
    throw error;
  });
  const recorded = writes.record(delivery, attempt);
  onAttempted?.();
  await recorded;
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
      perTurn: PER_RECEIVER,
      handler: ({ data, signal, freeSlot }) =>
        deliver(services, readMessage(data), { lane, signal, onAttempted: freeSlot }),
    });
}
