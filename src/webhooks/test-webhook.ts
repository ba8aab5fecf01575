// POST …/stt-webhook/test: sends one signed delivery about a job that does not exist, immediately, and returns its outcome [webhooks.test-delivery].
import { GatewayError } from "../contract/errors.ts";
import { newId, type WorkspaceId } from "../contract/ids.ts";
import type { DeliveryView } from "../contract/webhook.ts";
import { markPostCommitFailure } from "../storage/transact.ts";
import { deliver } from "./deliver.ts";
import { describeDelivery } from "./list-deliveries.ts";
import type { DeliveryMessage } from "./queues.ts";
import type { WebhookServices } from "./services.ts";
import { insertTestDelivery, isTestClaimed } from "./store/deliveries.ts";
import { lockWebhook } from "./store/webhooks.ts";
import { noWebhook } from "./webhook-row.ts";

/** Works while the webhook is disabled too, because that is when a test is most useful. */
export async function testWebhook(services: WebhookServices, workspaceId: WorkspaceId): Promise<DeliveryView> {
  const message = await createTest(services, workspaceId);
  await markPostCommitFailure(deliver(services, message));
  const view = await markPostCommitFailure(describeDelivery(services.database, workspaceId, message.deliveryId));
  // The delivery was deleted with its workspace while it was being attempted.
  if (view === null) throw noWebhook();
  return view;
}

async function createTest({ database }: WebhookServices, workspaceId: WorkspaceId): Promise<DeliveryMessage> {
  const deliveryId = newId("delivery");
  await database.inWorkspace(workspaceId, async (tx) => {
    if ((await lockWebhook(tx, workspaceId)) === undefined) throw noWebhook();
    if (await isTestClaimed(tx, workspaceId)) throw testRunning();
    await insertTestDelivery(tx, { id: deliveryId, workspaceId, eventId: newId("event"), jobId: newId("job") });
  });
  return { workspaceId, deliveryId, turn: 0 };
}

function testRunning(): GatewayError {
  return new GatewayError("CONCURRENCY_LIMITED", {
    message: "A test of this webhook is still running.",
    retryAfterSeconds: 5,
  });
}
