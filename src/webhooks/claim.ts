// Claims a delivery for one attempt. The claim is in the database, so that a delivery is never attempted twice at once [webhooks.stale-messages] and a
// receiver gets at most four requests at once over all processes [webhooks.receiver-concurrency].
import type { WebhookEventBody } from "../contract/webhook.ts";
import { eventBody } from "./event-body.ts";
import { type DeliveryMessage, leaseSeconds, PER_RECEIVER } from "./queues.ts";
import type { WebhookServices } from "./services.ts";
import type { SigningSecrets } from "./sign.ts";
import { clearClaim, countClaimed, endDelivery, lockPendingDelivery, setClaim } from "./store/deliveries.ts";
import { lockWebhook, type WebhookRow } from "./store/webhooks.ts";
import { openWebhook } from "./webhook-row.ts";

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
    const row = await lockPendingDelivery(tx, message);
    if (row === undefined) return { kind: "stale" };
    if (webhook === undefined || (!webhook.enabled && !row.is_test)) {
      await endDelivery(tx, message.deliveryId, webhook === undefined ? "deleted" : "disabled");
      return { kind: "stale" };
    }
    if (row.is_claimed || (await countClaimed(tx, message.workspaceId)) >= PER_RECEIVER) return { kind: "busy" };
    await setClaim(tx, message.deliveryId, leaseSeconds(services.timeoutMs));
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
  message: DeliveryMessage,
): Promise<void> {
  await database.inWorkspace(message.workspaceId, (tx) => clearClaim(tx, message));
}
