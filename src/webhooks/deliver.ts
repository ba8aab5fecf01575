// Handles a queue message of a delivery: claim, attempt, record. Delivery is at least once [webhooks.at-least-once]: if the process dies between the
// receiver's response and the record, the same event is sent again.
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { brand } from "../contract/ids.ts";
import { createKeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import type { Queue } from "../queue/queue.ts";
import { attemptDelivery, type AttemptServices } from "./attempt.ts";
import {
  AGAIN_QUEUE,
  BUSY_SECONDS,
  CONCURRENCY,
  type DeliveryMessage,
  FETCHED_PER_ATTEMPT,
  FIRST_QUEUE,
  type Lane,
  PER_RECEIVER,
} from "./queues.ts";
import type { WebhookServices } from "./services.ts";

const message = z.object({
  workspaceId: z.string().transform((id) => brand("workspace", id)),
  deliveryId: z.string().transform((id) => brand("delivery", id)),
  turn: z.int(),
});

export function readMessage(data: unknown): DeliveryMessage {
  return message.parse(data);
}

type DeliverServices = Pick<WebhookServices, "writes" | keyof AttemptServices>;

interface DeliverOptions {
  /** Queue to which a message returns if its receiver is busy. */
  readonly lane?: Lane;
  /** Aborts the attempt when the process stops. The queue redelivers its message. */
  readonly signal?: AbortSignal;
}

export async function deliver(
  services: DeliverServices,
  dueMessage: DeliveryMessage,
  options: DeliverOptions = {},
): Promise<void> {
  const { stored } = await attemptNow(services, dueMessage, options);
  await stored;
}

interface AttemptedNow {
  readonly isBusy: boolean;
  /** Resolves when the attempt is recorded. */
  readonly stored: Promise<void>;
}

/** Resolves when the receiver has answered. The record is then the next write, so that a claim after it finds a free place. */
async function attemptNow(
  services: DeliverServices,
  dueMessage: DeliveryMessage,
  { lane = FIRST_QUEUE, signal }: DeliverOptions,
): Promise<AttemptedNow> {
  const { writes } = services;
  const claim = await writes.claim(dueMessage, lane);
  if (claim.kind !== "claimed") return { isBusy: claim.kind === "busy", stored: Promise.resolve() };
  const { delivery } = claim;
  const attempt = await attemptDelivery(services, delivery, signal).catch(async (error: unknown) => {
    await writes.release(delivery);
    throw error;
  });
  return { isBusy: false, stored: writes.record(delivery, attempt) };
}

/** Starts the workers for deliveries that `deliverOnTerminal` and failed attempts enqueue. `concurrency` limits attempts. */
export function startDeliveries(
  services: DeliverServices,
  queue: Pick<Queue, "work">,
  concurrency: Readonly<Record<Lane, number>> = CONCURRENCY,
): void {
  for (const lane of [FIRST_QUEUE, AGAIN_QUEUE] as const) {
    const total = concurrency[lane];
    const places = createKeyedSemaphore({ total, perKind: total, perOwner: PER_RECEIVER });
    queue.work(lane, {
      concurrency: FETCHED_PER_ATTEMPT * total,
      perGroup: FETCHED_PER_ATTEMPT * PER_RECEIVER,
      handler: async ({ data, signal, freeSlot }) => {
        const dueMessage = readMessage(data);
        const attempt = async (): Promise<AttemptedNow> => {
          const attempted = await attemptNow(services, dueMessage, { lane, signal });
          // Another process has all places of the receiver: without the pause all its messages would be fetched and sent back in turn.
          if (attempted.isBusy)
            await wait(BUSY_SECONDS * 1000, undefined, { signal, ref: false }).catch(() => undefined);
          return attempted;
        };
        const { stored } = await places.run(lane, signal, attempt, dueMessage.workspaceId);
        freeSlot();
        await stored;
      },
    });
  }
}
