// Stores a workspace's webhook and the health of its receiver. Callers seal and open the address and the secrets.
import { type Selectable, sql } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { SystemHandle, SystemTransaction, DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

export type WebhookRow = Selectable<Tables["webhooks"]>;

export interface CurrentWebhook extends WebhookRow {
  /** Whether a previous secret exists and has not expired. */
  readonly previous_counts: boolean;
}

/** Every writer locks this row first, so that configuration, attempts and redeliveries of one webhook are serialised. */
export async function lockWebhook(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
): Promise<CurrentWebhook | undefined> {
  return webhookOf(tx, workspaceId).forUpdate().executeTakeFirst();
}

export async function readWebhook(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
): Promise<CurrentWebhook | undefined> {
  return webhookOf(tx, workspaceId).executeTakeFirst();
}

function webhookOf(tx: DatabaseTransaction, workspaceId: WorkspaceId) {
  return tx
    .selectFrom("webhooks")
    .selectAll()
    .select(sql<boolean>`coalesce(previous_secret_until > patchbay_now(), false)`.as("previous_counts"))
    .where("workspace_id", "=", workspaceId);
}

export interface NewWebhook {
  readonly workspaceId: WorkspaceId;
  readonly sealedUrl: Buffer;
  /** False: its owner creates it disabled. */
  readonly enabled: boolean;
  readonly secret: SealedSecret;
}

export interface SealedSecret {
  readonly sealed: Buffer;
  readonly last4: string;
}

/** Undefined: the workspace has a webhook already. */
export async function insertWebhook(
  tx: DatabaseTransaction,
  { workspaceId, sealedUrl, enabled, secret }: NewWebhook,
): Promise<WebhookRow | undefined> {
  return tx
    .insertInto("webhooks")
    .values({
      workspace_id: workspaceId,
      sealed_url: sealedUrl,
      enabled,
      secret: secret.sealed,
      secret_last4: secret.last4,
      disabled_reason: enabled ? null : "owner",
      disabled_at: enabled ? null : sql<Date>`patchbay_now()`,
    })
    .onConflict((conflict) => conflict.column("workspace_id").doNothing())
    .returningAll()
    .executeTakeFirst();
}

export interface WebhookChange {
  readonly sealedUrl: Buffer;
  readonly enabled: boolean;
  /** Null: unchanged. */
  readonly secret: SealedSecret | null;
  readonly previousSecret: { readonly sealed: Buffer; readonly validHours: number } | "deleted" | "unchanged";
  readonly resetsFailing: boolean;
  readonly disabled: "by-owner" | "no" | "unchanged";
}

export async function updateWebhook(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  { sealedUrl, enabled, secret, previousSecret, resetsFailing, disabled }: WebhookChange,
): Promise<WebhookRow> {
  return tx
    .updateTable("webhooks")
    .set((column) => ({
      url: null,
      sealed_url: sealedUrl,
      enabled,
      version: column("version", "+", 1),
      updated_at: sql<Date>`patchbay_now()`,
      ...(secret === null ? {} : { secret: secret.sealed, secret_last4: secret.last4 }),
      ...previousColumns(previousSecret),
      ...(resetsFailing ? { failing_since: null } : {}),
      ...disabledColumns(disabled),
    }))
    .where("workspace_id", "=", workspaceId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

function previousColumns(change: WebhookChange["previousSecret"]) {
  if (change === "unchanged") return {};
  if (change === "deleted") return { previous_secret: null, previous_secret_until: null };
  return {
    previous_secret: change.sealed,
    previous_secret_until: sql<Date>`patchbay_now() + make_interval(hours => ${change.validHours})`,
  };
}

function disabledColumns(change: WebhookChange["disabled"]) {
  if (change === "unchanged") return {};
  if (change === "no") return { disabled_reason: null, disabled_at: null };
  return { disabled_reason: "owner" as const, disabled_at: sql<Date>`patchbay_now()` };
}

export interface HealthChange {
  readonly workspaceId: string;
  /** Failing from now on, or working again. */
  readonly isFailing: boolean;
}

/** The rows must be locked. */
export async function writeHealth(tx: SystemTransaction, changes: readonly HealthChange[]): Promise<void> {
  if (changes.length === 0) return;
  const list = changes.map(({ workspaceId, isFailing }) => ({ workspace_id: workspaceId, is_failing: isFailing }));
  await sql`${PREPARED}
    with changes as materialized (select * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as change (workspace_id text, is_failing boolean))
    update webhooks set failing_since = case when changes.is_failing then patchbay_now() end
    from changes where webhooks.workspace_id = any(array(select workspace_id from changes)) and webhooks.workspace_id = changes.workspace_id`.execute(
    tx,
  );
}

export async function disableWebhook(
  tx: DatabaseTransaction,
  workspaceId: string,
  reason: "gone" | "failing",
): Promise<WebhookRow> {
  return tx
    .updateTable("webhooks")
    .where("workspace_id", "=", workspaceId)
    .set({
      enabled: false,
      disabled_reason: reason,
      disabled_at: sql<Date>`patchbay_now()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteWebhookRow(tx: DatabaseTransaction, workspaceId: WorkspaceId): Promise<void> {
  await tx.deleteFrom("webhooks").where("workspace_id", "=", workspaceId).execute();
}

export async function purgePreviousSecrets(db: SystemHandle): Promise<void> {
  await sql`update webhooks set previous_secret = null, previous_secret_until = null
    where previous_secret_until <= patchbay_now()`.execute(db);
}
