// Returns and deletes a workspace's webhook: GET and DELETE /workspace/{tenant_id}/stt-webhook.
import { allowMatch } from "../admin/precondition.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import type { WebhookView } from "../contract/webhook.ts";
import { writeAudit } from "../storage/audit-log.ts";
import type { Change } from "./configure.ts";
import { deleteWebhookRow, lockWebhook, readWebhook } from "./store/webhooks.ts";
import { auditView, noWebhook, openWebhook, webhookView } from "./webhook-row.ts";
import type { WebhookServices } from "./services.ts";

export async function describeWebhook(
  { database, seal }: Pick<WebhookServices, "database" | "seal">,
  workspaceId: WorkspaceId,
): Promise<WebhookView> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const row = await readWebhook(tx, workspaceId);
    if (row === undefined) throw noWebhook();
    return webhookView(row, (await openWebhook(tx, seal, row)).url, null);
  });
}

/** Pending deliveries end when they are due, unless a webhook exists again by then. The delivery log is kept for its retention period. */
export async function deleteWebhook(
  { database, seal }: Pick<WebhookServices, "database" | "seal">,
  { workspaceId, actor, precondition }: Omit<Change, "wanted">,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    const row = await lockWebhook(tx, workspaceId);
    if (row === undefined) throw noWebhook();
    const { url } = await openWebhook(tx, seal, row);
    allowMatch(precondition, webhookView(row, url, null));
    await deleteWebhookRow(tx, workspaceId);
    await writeAudit(tx, {
      workspaceId,
      actorKeyId: actor,
      action: "stt_webhook.deleted",
      object: workspaceId,
      before: auditView(row, url),
      after: null,
    });
  });
}
