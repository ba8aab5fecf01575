// Reads a workspace's webhook row, with its sealed address and secrets, and describes it for its owner and the audit log.
import type { Selectable } from "kysely";
import { sql } from "kysely";
import { GatewayError } from "../contract/errors.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import type { WebhookView } from "../contract/webhook.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { readDataKeys } from "../storage/data-keys.ts";
import type { Seal } from "../storage/seal.ts";
import { type WebhookSecret, webhookSecretPlace } from "../storage/secret-places.ts";
import type { Tables } from "../storage/tables.ts";
import type { SigningSecrets } from "./sign.ts";

export type WebhookRow = Selectable<Tables["webhooks"]>;

export interface CurrentWebhook extends WebhookRow {
  /** Whether a previous secret exists and has not expired. */
  readonly previous_counts: boolean;
}

/** Every writer locks this row first, so that configuration, attempts and redeliveries of one webhook are serialised. */
export async function lockWebhook(tx: Transacting, workspaceId: WorkspaceId): Promise<CurrentWebhook | undefined> {
  return webhookOf(tx, workspaceId).forUpdate().executeTakeFirst();
}

export async function readWebhook(tx: Transacting, workspaceId: WorkspaceId): Promise<CurrentWebhook | undefined> {
  return webhookOf(tx, workspaceId).executeTakeFirst();
}

function webhookOf(tx: Transacting, workspaceId: WorkspaceId) {
  return tx
    .selectFrom("webhooks")
    .selectAll()
    .select(sql<boolean>`coalesce(previous_secret_until > patchbay_now(), false)`.as("previous_counts"))
    .where("workspace_id", "=", workspaceId);
}

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

export async function openWebhook(
  db: Pick<Database["db"], "selectFrom">,
  seal: Seal,
  row: CurrentWebhook,
): Promise<OpenedWebhook> {
  const keys = await readDataKeys(db, seal, row.workspace_id);
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
