// Opens the sealed address and secrets of a workspace's webhook, and describes it for its owner and the audit log.
import { GatewayError } from "../contract/errors.ts";
import type { WebhookView } from "../contract/webhook.ts";
import { readDataKeys, type SecretOpener } from "../storage/secrets/data-keys.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { type WebhookSecret, webhookSecretPlace } from "../storage/secrets/secret-places.ts";
import type { Handle } from "../storage/system.ts";
import type { SigningSecrets } from "./sign.ts";
import type { CurrentWebhook, WebhookRow } from "./store/webhooks.ts";

export function noWebhook(): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message:
      "This workspace has no completion webhook. Set one: PUT /workspace/{tenant_id}/stt-webhook, or `patchbay webhooks set URL`. A receiver on your own machine needs none: `patchbay listen`.",
  });
}

export interface OpenedWebhook {
  readonly url: string;
  readonly secrets: SigningSecrets;
}

export async function openWebhook(db: Handle, seal: Seal, row: CurrentWebhook): Promise<OpenedWebhook> {
  return openWebhookWith(await readDataKeys(db, seal, row.workspace_id), row);
}

export function openWebhookWith(keys: SecretOpener, row: CurrentWebhook): OpenedWebhook {
  const open = (column: WebhookSecret, sealed: Buffer) =>
    keys.open(sealed, webhookSecretPlace(row.workspace_id, column));
  const { secret, previous_secret: previous, previous_counts: isValid, sealed_url: sealedUrl } = row;
  return {
    url: sealedUrl === null ? (row.url ?? "") : open("sealed_url", sealedUrl),
    secrets: {
      current: open("secret", secret),
      previous: previous !== null && isValid ? open("previous_secret", previous) : null,
    },
  };
}

/** Whether both rows come from the same change of the settings: every change seals the address again, to other bytes. */
export function isSameSetting(row: WebhookRow, other: WebhookRow): boolean {
  const address = ({ sealed_url: sealed, url }: WebhookRow) => sealed?.toString("hex") ?? url;
  return row.version === other.version && address(row) === address(other);
}

/** `secret` is set only in the response that created it. */
export function webhookView(row: WebhookRow, url: string, secret: string | null): WebhookView {
  return {
    object: "stt_webhook",
    url,
    ...stateOf(row),
    created_at: row.created_at.toISOString(),
    ...(secret === null ? {} : { secret }),
  };
}

/** What the audit log stores of a webhook: no secrets, and only the origin of the address, because the path may contain tokens. */
export function auditView(row: WebhookRow, url: string) {
  return { origin: new URL(url).origin, version: row.version, ...stateOf(row) };
}

function stateOf(row: WebhookRow) {
  return {
    enabled: row.enabled,
    secret_last4: row.secret_last4,
    previous_secret_until: row.previous_secret_until?.toISOString() ?? null,
    disabled_reason: row.disabled_reason,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    failing_since: row.failing_since?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
  };
}
