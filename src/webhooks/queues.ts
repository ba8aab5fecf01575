// The queues of deliveries. Receivers that have just failed have a queue of their own, so that working receivers never wait behind them, however many they
// are and however long they hang [webhooks.failing-receivers].
import type { DeliveryId, WorkspaceId } from "../contract/ids.ts";
import type { Queue, QueueDefinition } from "../queue/queue.ts";
import type { DatabaseTransaction } from "../storage/database.ts";

export const FIRST_QUEUE = "webhook-deliveries";
export const AGAIN_QUEUE = "webhook-deliveries-again";
export type Lane = typeof FIRST_QUEUE | typeof AGAIN_QUEUE;

/** Maximum concurrent attempts per receiver, over all processes (`claim.ts`). */
export const PER_RECEIVER = 4;
/**
 * Concurrent attempts per process. They are sockets that wait, not CPU work. Receivers that are dead but not yet known to be are in the first queue, and each
 * occupies a slot until it times out. Measured on PostgreSQL with 1,000 receivers that never answer: other receivers' first attempt begins 0.06 s (p95) after
 * its commit if the dead ones are known, 0.11 s if all are new.
 */
export const CONCURRENCY = { [FIRST_QUEUE]: 2_000, [AGAIN_QUEUE]: 250 } as const;

/** Messages in this process for each attempt at once. Those that wait are claimed by the transaction that records the attempts before them. */
export const FETCHED_PER_ATTEMPT = 2;

/** Delay after which one of a busy receiver's attempts may have ended. */
export const BUSY_SECONDS = 2;

export interface DeliveryMessage {
  readonly workspaceId: WorkspaceId;
  readonly deliveryId: DeliveryId;
  readonly turn: number;
}

/** A worker without a heartbeat for this long is considered dead. */
const HEARTBEAT_SECONDS = 15;

/** Duration of a claim: the attempt's timeout, and time to record it. */
export function leaseSeconds(timeoutMs: number): number {
  return Math.ceil(timeoutMs / 1000) + 30;
}

export function webhookQueues(timeoutMs: number): Readonly<Record<string, QueueDefinition>> {
  // Longer than the lease, so that the claim has expired when the queue redelivers a message, and than the wait for attempts before it.
  const definition = {
    retryLimit: 20,
    retryDelaySeconds: 5,
    expireSeconds: FETCHED_PER_ATTEMPT * leaseSeconds(timeoutMs) + 30,
    heartbeatSeconds: HEARTBEAT_SECONDS,
  };
  return { [FIRST_QUEUE]: definition, [AGAIN_QUEUE]: definition };
}

export interface ScheduledMessage {
  readonly message: DeliveryMessage;
  readonly lane: Lane;
  /** 0: due now. */
  readonly delaySeconds: number;
}

/** In one statement for each lane. */
export async function enqueueAll(
  queue: Pick<Queue, "sendAll">,
  messages: readonly ScheduledMessage[],
  tx: DatabaseTransaction,
): Promise<void> {
  for (const [lane, own] of Map.groupBy(messages, (each) => each.lane)) {
    const rows = own.map(({ message, delaySeconds }) => ({
      data: { ...message },
      ...optionsOf(message, delaySeconds),
    }));
    await queue.sendAll(lane, rows, tx);
  }
}

export async function enqueue(
  queue: Pick<Queue, "send">,
  { message, lane, delaySeconds }: ScheduledMessage,
  tx?: DatabaseTransaction,
): Promise<void> {
  await queue.send(lane, { ...message }, optionsOf(message, delaySeconds), tx);
}

function optionsOf({ workspaceId }: DeliveryMessage, delaySeconds: number) {
  return {
    groupId: workspaceId,
    ...(delaySeconds === 0 ? {} : { startAfter: Math.round(delaySeconds * 1000) / 1000 }),
  };
}
