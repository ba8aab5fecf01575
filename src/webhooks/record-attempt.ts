// Records an attempt in one transaction: its row, the delivery's state, the receiver's health, and the message of the next attempt. If the process dies
// before, the attempt is repeated under the same event id [webhooks.at-least-once].
import { sql } from "kysely";
import { newId } from "../contract/ids.ts";
import { writeAudit } from "../storage/audit-log.ts";
import type { Transacting } from "../storage/database.ts";
import { type Attempted, isGone, isThrottled } from "./attempt.ts";
import type { ClaimedDelivery } from "./claim.ts";
import { AGAIN_QUEUE, enqueue } from "./queues.ts";
import { nextDelaySeconds } from "./schedule.ts";
import type { WebhookServices } from "./services.ts";
import { auditView, isSameSetting, lockWebhook, type WebhookRow } from "./webhook-row.ts";

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
    const updated = await insertAttempt(tx, delivery, attempt);
    if (updated === null) return;
    const hasSucceeded = attempt.outcome === "delivered";
    const isSame = webhook !== undefined && isSameSetting(webhook, delivery.webhook);
    const isDisabled = isSame && (await updateHealth(tx, { webhook, delivery, attempted: attempt, hasSucceeded }));
    // A manual redelivery took over meanwhile, and decides what becomes of the delivery.
    if (updated.turn !== delivery.message.turn || updated.state !== "pending") return;
    if (hasSucceeded) return finish(tx, delivery, null);
    if (isSame && isGone(attempt)) return finish(tx, delivery, "gone");
    if (isDisabled) return finish(tx, delivery, "disabled");
    await scheduleNext(services, tx, delivery, attempt, updated.attempts_made);
  });
}

/** Returns null if the delivery was purged meanwhile. Releases the claim. */
async function insertAttempt(tx: Transacting, { message, eventId }: ClaimedDelivery, attempt: Attempted) {
  const row = await tx
    .updateTable("webhook_deliveries")
    .set((column) => ({
      attempts_total: column("attempts_total", "+", 1),
      // An attempt that a redelivery superseded does not count in the new series of attempts.
      attempts_made: sql<number>`attempts_made + case when turn = ${message.turn} then 1 else 0 end`,
      claimed_until: null,
    }))
    .where("id", "=", message.deliveryId)
    .where("event_id", "=", eventId)
    .returning(["turn", "state", "attempts_made", "attempts_total"])
    .executeTakeFirst();
  if (row === undefined) return null;
  await tx
    .insertInto("webhook_attempts")
    .values({
      id: newId("deliveryAttempt"),
      workspace_id: message.workspaceId,
      delivery_id: message.deliveryId,
      number: row.attempts_total,
      started_at: attempt.startedAt,
      outcome: attempt.outcome,
      status_code: attempt.statusCode,
      latency_ms: attempt.latencyMs,
      response: attempt.response,
    })
    .execute();
  return row;
}

interface Health {
  readonly webhook: WebhookRow;
  readonly delivery: ClaimedDelivery;
  readonly attempted: Attempted;
  readonly hasSucceeded: boolean;
}

/** Returns true if this attempt disabled the webhook. A failed test changes nothing: it only shows the owner the receiver's state. */
async function updateHealth(
  tx: Transacting,
  { webhook, delivery, attempted: attempt, hasSucceeded }: Health,
): Promise<boolean> {
  const change = tx.updateTable("webhooks").where("workspace_id", "=", webhook.workspace_id);
  if (hasSucceeded) {
    if (webhook.failing_since !== null) await change.set({ failing_since: null }).execute();
    return false;
  }
  if (delivery.isTest || !webhook.enabled) return false;
  const { since, isOver } = await change
    .set({ failing_since: sql<Date>`coalesce(failing_since, patchbay_now())` })
    .returning([
      "failing_since as since",
      sql<boolean>`failing_since <= patchbay_now() - make_interval(days => ${FAILING_DAYS})`.as("isOver"),
    ])
    .executeTakeFirstOrThrow();
  if (!isGone(attempt) && !isOver) return false;
  const after = await change
    .set({
      enabled: false,
      disabled_reason: isGone(attempt) ? "gone" : "failing",
      disabled_at: sql<Date>`patchbay_now()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
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

async function finish(
  tx: Transacting,
  { message }: ClaimedDelivery,
  endedBy: "attempts" | "gone" | "disabled" | null,
): Promise<void> {
  await tx
    .updateTable("webhook_deliveries")
    .set({
      state: endedBy === null ? "delivered" : "failed",
      ended_by: endedBy,
      next_attempt_at: null,
      finished_at: sql<Date>`patchbay_now()`,
    })
    .where("id", "=", message.deliveryId)
    .execute();
}

async function scheduleNext(
  services: RecordServices,
  tx: Transacting,
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
  if (delaySeconds === null) return finish(tx, delivery, "attempts");
  const turn = message.turn + 1;
  await tx
    .updateTable("webhook_deliveries")
    .set({ turn, next_attempt_at: sql<Date>`patchbay_now() + ${delaySeconds}::float8 * interval '1 second'` })
    .where("id", "=", message.deliveryId)
    .execute();
  await enqueue(services.queue, { ...message, turn }, { lane: AGAIN_QUEUE, delaySeconds }, tx);
}
