// Locks the webhooks and deliveries of a batch, of any workspace, in one statement: webhooks first, each kind in the order of its ids.
import { sql } from "kysely";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { SystemTransaction } from "../../storage/database.ts";
import type { DataKeyRow } from "../../storage/secrets/data-keys.ts";
import type { DeliveryRow } from "./deliveries.ts";
import type { CurrentWebhook, WebhookRow } from "./webhooks.ts";

type DeliveryColumn =
  | "id"
  | "workspace_id"
  | "event_id"
  | "is_test"
  | "job_id"
  | "job_status"
  | "occurred_at"
  | "state"
  | "turn"
  | "attempts_made"
  | "attempts_total"
  | "ended_by";

export interface LockedDelivery extends Pick<DeliveryRow, DeliveryColumn> {
  readonly is_claimed: boolean;
  /** The exact value, as text. */
  readonly claimed_until_text: string | null;
}

export interface LockedWebhook extends CurrentWebhook {
  /** Its receiver has only failed for so long that the webhook is disabled. */
  readonly is_failing_long: boolean;
}

export interface Locked {
  readonly deliveries: readonly LockedDelivery[];
  readonly webhooks: readonly LockedWebhook[];
  /** Of the workspaces that have a webhook. */
  readonly dataKeys: readonly DataKeyRow[];
}

export interface DeliverySubject {
  readonly id: string;
  readonly workspaceId: string;
}

/** Uninterrupted failures for this long disable the webhook. */
const FAILING_DAYS = 5;
const HOOK = "hook_";

/** Objects, so that the compiler finds a column that is missing. */
const DELIVERY_COLUMNS: Readonly<Record<DeliveryColumn, true>> = {
  id: true,
  workspace_id: true,
  event_id: true,
  is_test: true,
  job_id: true,
  job_status: true,
  occurred_at: true,
  state: true,
  turn: true,
  attempts_made: true,
  attempts_total: true,
  ended_by: true,
};
const WEBHOOK_COLUMNS: Readonly<Record<keyof WebhookRow, true>> = {
  workspace_id: true,
  url: true,
  sealed_url: true,
  enabled: true,
  version: true,
  secret: true,
  secret_last4: true,
  previous_secret: true,
  previous_secret_until: true,
  failing_since: true,
  disabled_reason: true,
  disabled_at: true,
  created_at: true,
  updated_at: true,
};
const deliveryColumns = sql.join(Object.keys(DELIVERY_COLUMNS).map((column) => sql.ref(`delivery.${column}`)));
const hookColumns = sql.join(
  Object.keys(WEBHOOK_COLUMNS).map((column) => sql`${sql.ref(column)} as ${sql.ref(HOOK + column)}`),
);
const hookNames = sql.join(
  [...Object.keys(WEBHOOK_COLUMNS), "previous_counts", "is_failing_long"].map((column) =>
    sql.ref(`hooks.${HOOK}${column}`),
  ),
);

/** A delivery that is not returned was purged, or belongs to another workspace. */
export async function lockDeliveries(tx: SystemTransaction, subjects: readonly DeliverySubject[]): Promise<Locked> {
  const list = subjects.map(({ id, workspaceId }) => ({ id, workspace_id: workspaceId }));
  const { rows } = await sql<Record<string, unknown>>`${PREPARED}
    with given as materialized (select distinct * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as given (id text, workspace_id text)),
      hooks as materialized (select ${hookColumns}, coalesce(previous_secret_until > patchbay_now(), false) as hook_previous_counts,
          coalesce(failing_since <= patchbay_now() - make_interval(days => ${sql.lit(FAILING_DAYS)}), false) as hook_is_failing_long,
          (select jsonb_object_agg(data_keys.version, encode(data_keys.wrapped, 'hex')) from data_keys where scope = webhooks.workspace_id) as data_keys
        from webhooks where workspace_id = any(array(select workspace_id from given)) order by workspace_id for update),
      locked as materialized (select ${deliveryColumns}, coalesce(delivery.claimed_until > patchbay_now(), false) as is_claimed,
          delivery.claimed_until::text as claimed_until_text
        from webhook_deliveries as delivery join given on given.id = delivery.id and given.workspace_id = delivery.workspace_id
        where delivery.id = any(array(select id from given)) and (select count(*) from hooks) >= 0
        order by delivery.id for update of delivery)
    select locked.*, hooks.data_keys, ${hookNames} from locked left join hooks on hooks.hook_workspace_id = locked.workspace_id`.execute(
    tx,
  );
  const webhooks = new Map<string, LockedWebhook>();
  const dataKeys: DataKeyRow[] = [];
  for (const row of rows) {
    const webhook = webhookOf(row);
    if (webhook === null || webhooks.has(webhook.workspace_id)) continue;
    webhooks.set(webhook.workspace_id, webhook);
    for (const [version, wrapped] of Object.entries((row["data_keys"] ?? {}) as Record<string, string>))
      dataKeys.push({ scope: webhook.workspace_id, version: Number(version), wrapped: Buffer.from(wrapped, "hex") });
  }
  return { deliveries: rows.map(deliveryOf), webhooks: [...webhooks.values()], dataKeys };
}

/** Its guarantee: the statement selects these columns. */
function deliveryOf(row: Readonly<Record<string, unknown>>): LockedDelivery {
  return row as unknown as LockedDelivery;
}

/** Null: the workspace has no webhook. Its guarantee: the statement selects these columns, with a prefix. */
function webhookOf(row: Readonly<Record<string, unknown>>): LockedWebhook | null {
  if (row["hook_workspace_id"] === null) return null;
  const columns = Object.entries(row).filter(([name]) => name.startsWith(HOOK));
  return Object.fromEntries(
    columns.map(([name, value]) => [name.slice(HOOK.length), value]),
  ) as unknown as LockedWebhook;
}

/** Which of these attempts are stored. */
export async function listStoredAttempts(tx: SystemTransaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`select id from webhook_attempts where id = any(${ids}::text[])`.execute(
    tx,
  );
  return new Set(rows.map(({ id }) => id));
}
