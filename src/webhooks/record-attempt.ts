// Records an attempt in one transaction: its row, the delivery's state, the receiver's health, and the message of the next attempt. If the process dies
// before, the attempt is repeated under the same event id [webhooks.at-least-once].
import { writeAudit } from "../storage/audit-log.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { type Attempted, isGone, isThrottled } from "./attempt.ts";
import type { ClaimedDelivery } from "./claim.ts";
import { AGAIN_QUEUE, enqueue } from "./queues.ts";
import { nextDelaySeconds } from "./schedule.ts";
import type { WebhookServices } from "./services.ts";
import { countAttempt, endDelivery, scheduleAttempt } from "./store/deliveries.ts";
import { insertAttempt } from "./store/delivery-log.ts";
import { clearFailing, disableWebhook, lockWebhook, markFailing, type WebhookRow } from "./store/webhooks.ts";
import { auditView, isSameSetting } from "./webhook-row.ts";

/** Uninterrupted failures for this long disable the webhook. */
const FAILING_DAYS = 5;

type RecordServices = Pick<WebhookServices, "database" | "queue" | "maxAttempts" | "random">;

export async function recordAttempt(
  services: RecordServices,
  delivery: ClaimedDelivery,
  attempt: Attempted,
): Promise<void> {
  await services.database.inWorkspace(delivery.message.workspaceId, async (tx) => {
    const webhook = await lockWebhook(tx, delivery.message.workspaceId);
    const { deliveryId } = delivery.message;
    const updated = await countAttempt(tx, delivery.message, delivery.eventId);
    // The delivery was purged meanwhile.
    if (updated === undefined) return;
    await insertAttempt(tx, delivery.message, { ...attempt, number: updated.attempts_total });
    const hasSucceeded = attempt.outcome === "delivered";
    const isSame = webhook !== undefined && isSameSetting(webhook, delivery.webhook);
    const isDisabled = isSame && (await updateHealth(tx, { webhook, delivery, attempted: attempt, hasSucceeded }));
    // A manual redelivery took over meanwhile, and decides what becomes of the delivery.
    if (updated.turn !== delivery.message.turn || updated.state !== "pending") return;
    if (hasSucceeded) return endDelivery(tx, deliveryId, null);
    if (isSame && isGone(attempt)) return endDelivery(tx, deliveryId, "gone");
    if (isDisabled) return endDelivery(tx, deliveryId, "disabled");
    await scheduleNext(services, tx, delivery, attempt, updated.attempts_made);
  });
}

interface Health {
  readonly webhook: WebhookRow;
  readonly delivery: ClaimedDelivery;
  readonly attempted: Attempted;
  readonly hasSucceeded: boolean;
}

/** Returns true if this attempt disabled the webhook. A failed test changes nothing: it only shows the owner the receiver's state. */
async function updateHealth(
  tx: DatabaseTransaction,
  { webhook, delivery, attempted: attempt, hasSucceeded }: Health,
): Promise<boolean> {
  const { workspace_id: workspaceId } = webhook;
  if (hasSucceeded) {
    if (webhook.failing_since !== null) await clearFailing(tx, workspaceId);
    return false;
  }
  if (delivery.isTest || !webhook.enabled) return false;
  const { since, isOver } = await markFailing(tx, workspaceId, FAILING_DAYS);
  if (!isGone(attempt) && !isOver) return false;
  const after = await disableWebhook(tx, workspaceId, isGone(attempt) ? "gone" : "failing");
  await writeAudit(tx, {
    workspaceId: delivery.message.workspaceId,
    actorKeyId: null,
    action: "stt_webhook.disabled",
    object: delivery.message.workspaceId,
    before: auditView({ ...webhook, failing_since: since }, delivery.url),
    after: auditView(after, delivery.url),
  });
  return true;
}

async function scheduleNext(
  services: RecordServices,
  tx: DatabaseTransaction,
  delivery: ClaimedDelivery,
  attempt: Attempted,
  updated: number,
): Promise<void> {
  const { message, isTest } = delivery;
  const delaySeconds = nextDelaySeconds({
    made: updated,
    maxAttempts: isTest ? 1 : services.maxAttempts,
    isThrottled: isThrottled(attempt),
    retryAfterSeconds: attempt.retryAfterSeconds,
    random: services.random(),
  });
  if (delaySeconds === null) return endDelivery(tx, message.deliveryId, "attempts");
  const next = { ...message, turn: message.turn + 1 };
  await scheduleAttempt(tx, next, delaySeconds);
  await enqueue(services.queue, next, { lane: AGAIN_QUEUE, delaySeconds }, tx);
}
