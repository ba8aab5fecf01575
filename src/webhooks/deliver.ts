// What a queue message triggers: claim, attempt, record. At least once [webhooks.at-least-once]: if the process dies between the
// receiver's answer and the record, the same event is sent again.
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

interface DeliverOptions {
  /** Where a message that must wait its turn goes back to. */
  readonly lane?: Lane;
  /** Cuts an attempt under way when the process stops; its message comes again. */
  readonly signal?: AbortSignal;
}

export async function deliver(
  services: WebhookServices,
  due: DeliveryMessage,
  { lane = FIRST_QUEUE, signal }: DeliverOptions = {},
): Promise<void> {
  const claim = await claimDelivery(services, due);
  switch (claim.kind) {
    case "stale":
      return;
    case "busy":
      await enqueue(services.queue, due, { lane, delaySeconds: BUSY_SECONDS });
      return;
    case "claimed": {
      const attempted = await attemptDelivery(services, claim.delivery, signal).catch(async (error: unknown) => {
        await releaseClaim(services, due);
        throw error;
      });
      await recordAttempt(services, claim.delivery, attempted);
    }
  }
}

/** Works on what `deliverOnTerminal` and failed attempts send. */
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
