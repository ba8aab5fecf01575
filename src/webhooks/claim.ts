// Claims a delivery for one attempt. The claim is in the database, so that a delivery is never attempted twice at once [webhooks.stale-messages] and a
// receiver gets at most four attempts at once over all processes [webhooks.receiver-concurrency].
import { sql } from "kysely";
import type { WebhookEventBody } from "../contract/webhook.ts";
import type { Transacting } from "../storage/database.ts";
import { eventBody } from "./event-body.ts";
import { type DeliveryMessage, leaseSeconds, PER_RECEIVER } from "./queues.ts";
import type { WebhookServices } from "./services.ts";
import type { SigningSecrets } from "./sign.ts";
import { lockWebhook, openWebhook, type WebhookRow } from "./webhook-row.ts";

export interface ClaimedDelivery {
  readonly message: DeliveryMessage;
  readonly url: string;
  /** The settings at the start of the attempt. */
  readonly webhook: WebhookRow;
  readonly secrets: SigningSecrets;
  readonly eventId: string;
  readonly event: WebhookEventBody;
  readonly isTest: boolean;
}

export type Claim =
  | { readonly kind: "claimed"; readonly delivery: ClaimedDelivery }
  /** The delivery has ended, or is due under a later message. */
  | { readonly kind: "stale" }
  /** The delivery is being attempted, or its receiver has as many attempts as allowed. */
  | { readonly kind: "busy" };

export async function claimDelivery(
  services: Pick<WebhookServices, "database" | "seal" | "timeoutMs">,
  message: DeliveryMessage,
): Promise<Claim> {
  return services.database.inWorkspace(message.workspaceId, async (tx) => {
    const webhook = await lockWebhook(tx, message.workspaceId);
    const row = await tx
      .selectFrom("webhook_deliveries")
      .selectAll()
      .select(sql<boolean>`coalesce(claimed_until > patchbay_now(), false)`.as("is_claimed"))
      .where("id", "=", message.deliveryId)
      .where("workspace_id", "=", message.workspaceId)
      .where("turn", "=", message.turn)
      .where("state", "=", "pending")
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) return { kind: "stale" };
    if (webhook === undefined || (!webhook.enabled && !row.is_test)) {
      await endDelivery(tx, message, webhook === undefined ? "deleted" : "disabled");
      return { kind: "stale" };
    }
    if (row.is_claimed || (await countRunning(tx, message)) >= PER_RECEIVER) return { kind: "busy" };
    await tx
      .updateTable("webhook_deliveries")
      .set({ claimed_until: sql<Date>`patchbay_now() + make_interval(secs => ${leaseSeconds(services.timeoutMs)})` })
      .where("id", "=", message.deliveryId)
      .execute();
    return {
      kind: "claimed",
      delivery: {
        message,
        webhook,
        ...(await openWebhook(tx, services.seal, webhook)),
        eventId: row.event_id,
        event: eventBody(row),
        isTest: row.is_test,
      },
    };
  });
}

/** For an attempt that was not made. The claim of a worker that dies expires by itself. */
export async function releaseClaim(
  { database }: Pick<WebhookServices, "database">,
  { workspaceId, deliveryId, turn }: DeliveryMessage,
): Promise<void> {
  await database.inWorkspace(workspaceId, (tx) =>
    tx
      .updateTable("webhook_deliveries")
      .set({ claimed_until: null })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", deliveryId)
      .where("turn", "=", turn)
      .execute(),
  );
}

async function countRunning(tx: Transacting, { workspaceId }: DeliveryMessage): Promise<number> {
  const { count } = await tx
    .selectFrom("webhook_deliveries")
    .select((column) => column.fn.countAll<bigint>().as("count"))
    .where("workspace_id", "=", workspaceId)
    .where("claimed_until", ">", sql<Date>`patchbay_now()`)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function endDelivery(
  tx: Transacting,
  { deliveryId }: DeliveryMessage,
  endedBy: "disabled" | "deleted",
): Promise<void> {
  await tx
    .updateTable("webhook_deliveries")
    .set({
      state: "failed",
      ended_by: endedBy,
      next_attempt_at: null,
      claimed_until: null,
      finished_at: sql<Date>`patchbay_now()`,
    })
    .where("id", "=", deliveryId)
    .execute();
}
