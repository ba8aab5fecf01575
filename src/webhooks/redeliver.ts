// POST …/stt-webhook/deliveries/{id}/redeliver: sends the same event again, with the full retry schedule [webhooks.redeliver].
import { GatewayError } from "../contract/errors.ts";
import { invalidRequest } from "../contract/invalid-request.ts";
import type { DeliveryId, KeyId, WorkspaceId } from "../contract/ids.ts";
import type { DeliveryView } from "../contract/webhook.ts";
import { writeAudit } from "../storage/audit-log.ts";
import { markPostCommitFailure } from "../storage/transact.ts";
import { describeDelivery } from "./list-deliveries.ts";
import { enqueue, FIRST_QUEUE } from "./queues.ts";
import type { WebhookServices } from "./services.ts";
import { restartDelivery } from "./store/deliveries.ts";
import { lockWebhook } from "./store/webhooks.ts";
import { noWebhook } from "./webhook-row.ts";

export async function redeliver(
  services: Pick<WebhookServices, "database" | "queue">,
  request: { readonly workspaceId: WorkspaceId; readonly deliveryId: DeliveryId; readonly actor: KeyId },
): Promise<DeliveryView> {
  const { workspaceId, deliveryId, actor } = request;
  await services.database.inWorkspace(workspaceId, async (tx) => {
    const webhook = await lockWebhook(tx, workspaceId);
    if (webhook === undefined) throw noWebhook();
    if (!webhook.enabled) throw webhookDisabled();
    const row = await restartDelivery(tx, workspaceId, deliveryId);
    if (row === undefined) throw noDelivery();
    const message = { workspaceId, deliveryId, turn: row.turn };
    await enqueue(services.queue, { message, lane: FIRST_QUEUE, delaySeconds: 0 }, tx);
    await writeAudit(tx, {
      workspaceId,
      actorKeyId: actor,
      action: "stt_webhook.redelivered",
      object: deliveryId,
      before: null,
      after: { event_id: row.event_id },
    });
  });
  const view = await markPostCommitFailure(describeDelivery(services.database, workspaceId, deliveryId));
  if (view === null) throw noDelivery();
  return view;
}

function noDelivery(): GatewayError {
  return new GatewayError("NOT_FOUND", { message: "This workspace has no such delivery." });
}

function webhookDisabled(): GatewayError {
  return invalidRequest("enabled", "The webhook is disabled. Enable it before delivering again.");
}
