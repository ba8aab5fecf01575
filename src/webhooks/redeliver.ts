// POST …/deliveries/{id}/redeliver: sends the same event again, with the full retry schedule [webhooks.redeliver].
import { sql } from "kysely";
import { GatewayError } from "../contract/errors.ts";
import { invalidRequest } from "../contract/invalid-request.ts";
import type { DeliveryId, KeyId, WorkspaceId } from "../contract/ids.ts";
import type { DeliveryView } from "../contract/webhook.ts";
import { writeAudit } from "../storage/audit-log.ts";
import { markPostCommitFailure } from "../storage/transact.ts";
import { describeDelivery } from "./list-deliveries.ts";
import { enqueue, FIRST_QUEUE } from "./queues.ts";
import type { WebhookServices } from "./services.ts";
import { lockWebhook, noWebhook } from "./webhook-row.ts";

export async function redeliver(
  services: Pick<WebhookServices, "database" | "queue">,
  request: { readonly workspaceId: WorkspaceId; readonly deliveryId: DeliveryId; readonly actor: KeyId },
): Promise<DeliveryView> {
  const { workspaceId, deliveryId, actor } = request;
  await services.database.inWorkspace(workspaceId, async (tx) => {
    const webhook = await lockWebhook(tx, workspaceId);
    if (webhook === undefined) throw noWebhook();
    if (!webhook.enabled) throw webhookDisabled();
    const row = await tx
      .updateTable("webhook_deliveries")
      .set((column) => ({
        state: "pending",
        // Supersedes a pending or running attempt, which then ends without deciding anything.
        turn: column("turn", "+", 1),
        attempts_made: 0,
        next_attempt_at: sql<Date>`patchbay_now()`,
        finished_at: null,
        ended_by: null,
      }))
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", deliveryId)
      .returning(["turn", "event_id"])
      .executeTakeFirst();
    if (row === undefined) throw noDelivery();
    await enqueue(
      services.queue,
      { workspaceId, deliveryId, turn: row.turn },
      { lane: FIRST_QUEUE, delaySeconds: 0 },
      tx,
    );
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
