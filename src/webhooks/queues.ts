// The messages that start a delivery. Receivers that have just failed wait in a queue of their own: however many of them there are, and
// however long they hang, working receivers are not behind them [webhooks.failing-receivers].
import type { DeliveryId, WorkspaceId } from "../contract/ids.ts";
import type { Queue, QueueDefinition } from "../queue/queue.ts";
import type { Transacting } from "../storage/database.ts";

export const FIRST_QUEUE = "webhook-deliveries";
export const AGAIN_QUEUE = "webhook-deliveries-again";
export type Lane = typeof FIRST_QUEUE | typeof AGAIN_QUEUE;

/** At most so many at once to one receiver, over all processes (`claim.ts`). */
export const PER_RECEIVER = 4;
/**
 * Attempts at once in a process: sockets that wait, not work that is done. Receivers that nobody knows to be dead yet are in
 * the first queue, and each holds a place for as long as it keeps silent. Measured on PostgreSQL with 1,000 receivers that never
 * answer: everybody else's first attempt begins 0.06 s (p95) after its commit when they are known, 0.11 s when all are new.
 */
export const CONCURRENCY = { [FIRST_QUEUE]: 2_000, [AGAIN_QUEUE]: 250 } as const;

export interface DeliveryMessage {
  readonly workspaceId: WorkspaceId;
  readonly deliveryId: DeliveryId;
  readonly turn: number;
}

/** A worker that says nothing for so long is dead. */
const HEARTBEAT_SECONDS = 15;

/** How long an attempt is its worker's alone: what it may take, and room to record it. */
export function leaseSeconds(timeoutMs: number): number {
  return Math.ceil(timeoutMs / 1000) + 30;
}

export function webhookQueues(timeoutMs: number): Readonly<Record<string, QueueDefinition>> {
  // Longer than the lease: a message that comes again finds its predecessor's claim over.
  const definition = {
    retryLimit: 20,
    retryDelaySeconds: 5,
    expireSeconds: leaseSeconds(timeoutMs) + 30,
    heartbeatSeconds: HEARTBEAT_SECONDS,
  };
  return { [FIRST_QUEUE]: definition, [AGAIN_QUEUE]: definition };
}

export async function enqueue(
  queue: Pick<Queue, "send">,
  message: DeliveryMessage,
  when: { readonly lane: Lane; readonly delaySeconds: number },
  tx?: Transacting,
): Promise<void> {
  const options = {
    groupId: message.workspaceId,
    ...(when.delaySeconds === 0 ? {} : { startAfter: Math.round(when.delaySeconds * 1000) / 1000 }),
  };
  await queue.send(when.lane, { ...message }, options, tx);
}
