// PUT /workspace/{tenant_id}/stt-webhook: validates the address [webhooks.url-rules], then saves the change and its audit row in one transaction. A new
// secret is shown only in this response [webhooks.secret-shown-once].
import { allowMatch, type Precondition } from "../admin/precondition.ts";
import { brand, type KeyId, type WorkspaceId } from "../contract/ids.ts";
import { invalidRequest } from "../contract/invalid-request.ts";
import type { WebhookRequest, WebhookView } from "../contract/webhook.ts";
import { writeAudit } from "../storage/audit-log.ts";
import { sealSecret } from "../storage/secrets/data-keys.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { lockWorkspace } from "../storage/lock-workspace.ts";
import { type WebhookSecret, webhookSecretPlace } from "../storage/secrets/secret-places.ts";
import type { WebhookServices } from "./services.ts";
import { makeSecret } from "./sign.ts";
import {
  type CurrentWebhook,
  insertWebhook,
  lockWebhook,
  updateWebhook,
  type WebhookChange,
  type WebhookRow,
} from "./store/webhooks.ts";
import { auditView, type OpenedWebhook, openWebhook, webhookView } from "./webhook-row.ts";

/** How long a receiver may use the previous secret [webhooks.rotation]. */
const PREVIOUS_HOURS = 24;

export interface Change {
  readonly workspaceId: WorkspaceId;
  readonly actor: KeyId;
  readonly precondition: Precondition;
  readonly wanted: WebhookRequest;
}

export async function configureWebhook(
  services: Pick<WebhookServices, "database" | "seal" | "receivers">,
  requested: Change,
): Promise<WebhookView> {
  const change = { ...requested, wanted: { ...requested.wanted, url: withoutFragment(requested.wanted.url) } };
  // Resolves the host name, so it must not be inside the transaction.
  const refusal = await services.receivers.refusal(change.wanted.url);
  if (refusal !== null) throw invalidRequest("url", refusal);
  return services.database.inWorkspace(change.workspaceId, async (tx) => {
    await lockWorkspace(tx, change.workspaceId);
    const before = await lockOrCreate(services, tx, change);
    allowMatch(change.precondition, before.isNew ? null : webhookView(before.row, before.opened.url, null));
    const { row, secret } = before.isNew ? before : await update(services, tx, before, change.wanted);
    const { url } = change.wanted;
    await writeAudit(tx, {
      workspaceId: change.workspaceId,
      actorKeyId: change.actor,
      action: "stt_webhook.configured",
      object: change.workspaceId,
      before: before.isNew ? null : auditView(before.row, before.opened.url),
      after: { ...auditView(row, url), url_changed: before.isNew || before.opened.url !== url },
    });
    return webhookView(row, url, secret);
  });
}

/** HTTP does not send a fragment, so the stored address has none either. */
function withoutFragment(url: string): string {
  return url.split("#", 1)[0] ?? url;
}

type Locked =
  | { readonly isNew: true; readonly row: WebhookRow; readonly secret: string }
  | { readonly isNew: false; readonly row: CurrentWebhook; readonly opened: OpenedWebhook };

/** Of two concurrent first calls, one inserts the row, and the other waits for it and updates it. */
async function lockOrCreate(
  { seal }: Pick<WebhookServices, "seal">,
  tx: DatabaseTransaction,
  change: Change,
): Promise<Locked> {
  const { workspaceId, wanted } = change;
  const secret = makeSecret();
  const created = await insertWebhook(tx, {
    workspaceId,
    sealedUrl: await sealSecret(tx, seal, webhookSecretPlace(workspaceId, "sealed_url"), wanted.url),
    enabled: wanted.enabled,
    secret: {
      sealed: await sealSecret(tx, seal, webhookSecretPlace(workspaceId, "secret"), secret),
      last4: secret.slice(-4),
    },
  });
  if (created !== undefined) return { isNew: true, row: created, secret };
  const row = await lockWebhook(tx, workspaceId);
  // The row was deleted between the two statements, so the insert can succeed now.
  if (row === undefined) return lockOrCreate({ seal }, tx, change);
  return { isNew: false, row, opened: await openWebhook(tx, seal, row) };
}

async function update(
  { seal }: Pick<WebhookServices, "seal">,
  tx: DatabaseTransaction,
  { row: before, opened }: { readonly row: CurrentWebhook; readonly opened: OpenedWebhook },
  wanted: WebhookRequest,
): Promise<{ readonly row: WebhookRow; readonly secret: string | null }> {
  const workspaceId = brand("workspace", before.workspace_id);
  const secret = wanted.rotate_secret ? makeSecret() : null;
  const previous = secret === null || wanted.revoke_previous ? null : opened.secrets.current;
  const sealContext = (field: WebhookSecret) => webhookSecretPlace(workspaceId, field);
  const sealed = secret === null ? null : await sealSecret(tx, seal, sealContext("secret"), secret);
  const sealedUrl = await sealSecret(tx, seal, sealContext("sealed_url"), wanted.url);
  const sealedPrevious =
    previous === null ? null : await sealSecret(tx, seal, sealContext("previous_secret"), previous);
  const row = await updateWebhook(tx, workspaceId, {
    sealedUrl,
    enabled: wanted.enabled,
    secret: sealed === null || secret === null ? null : { sealed, last4: secret.slice(-4) },
    previousSecret: wanted.revoke_previous
      ? "deleted"
      : sealedPrevious === null
        ? "unchanged"
        : { sealed: sealedPrevious, validHours: PREVIOUS_HOURS },
    ...healthAfter(before, wanted, wanted.url !== opened.url),
  });
  return { row, secret };
}

/** A webhook that is enabled again or gets a new address starts with a clean record. One that is disabled again keeps the first reason. */
function healthAfter(
  before: WebhookRow,
  wanted: WebhookRequest,
  hasNewUrl: boolean,
): Pick<WebhookChange, "resetsFailing" | "disabled"> {
  return {
    resetsFailing: hasNewUrl || (wanted.enabled && !before.enabled),
    disabled: wanted.enabled ? "no" : before.enabled ? "by-owner" : "unchanged",
  };
}
