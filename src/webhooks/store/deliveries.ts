// Stores deliveries from their event to their end. A delivery has one turn per scheduled attempt: a message of an earlier turn is stale. The claim of a turn
// is a time limit in the row [webhooks.stale-messages].
import { type Selectable, sql } from "kysely";
import { brand, type AppId, type DeliveryId, type EventId, type JobId, type WorkspaceId } from "../../contract/ids.ts";
import type { EventStatus } from "../../contract/webhook.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { SystemHandle, SystemTransaction, DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

export type DeliveryRow = Selectable<Tables["webhook_deliveries"]>;

/** What a queue message identifies. */
export interface DeliveryTurn {
  readonly workspaceId: WorkspaceId;
  readonly deliveryId: DeliveryId;
  readonly turn: number;
}

export interface NewDelivery {
  readonly id: DeliveryId;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly eventId: EventId;
  readonly jobId: JobId;
  readonly status: EventStatus;
  readonly occurredAt: Date;
}

/**
 * Inserts the deliveries of workspaces with an enabled webhook, but no second one of an event. Returns the inserted ones by id, with whether the receiver
 * has failed since its last success.
 */
export async function insertDeliveries(
  tx: DatabaseTransaction,
  deliveries: readonly NewDelivery[],
): Promise<ReadonlyMap<string, { readonly isFailing: boolean }>> {
  const list = deliveries.map((delivery) => ({
    id: delivery.id,
    workspace_id: delivery.workspaceId,
    app_id: delivery.appId,
    event_id: delivery.eventId,
    job_id: delivery.jobId,
    job_status: delivery.status,
    occurred_at: delivery.occurredAt.toISOString(),
  }));
  const { rows } = await sql<{ id: string; isFailing: boolean }>`${PREPARED}
    with given as materialized (select * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as given
        (id text, workspace_id text, app_id text, event_id text, job_id text, job_status text, occurred_at timestamptz)),
      wanted as materialized (select given.*, webhooks.failing_since from given join webhooks on webhooks.workspace_id = given.workspace_id
        where webhooks.workspace_id = any(array(select workspace_id from given)) and webhooks.enabled),
      inserted as (insert into webhook_deliveries (id, workspace_id, app_id, event_id, job_id, job_status, occurred_at, next_attempt_at)
        select id, workspace_id, app_id, event_id, job_id, job_status, occurred_at, patchbay_now() from wanted
        on conflict (workspace_id, event_id) do nothing returning id)
    select id, wanted.failing_since is not null as "isFailing" from inserted join wanted using (id)`.execute(tx);
  return new Map(rows.map(({ id, isFailing }) => [id, { isFailing }]));
}

export async function insertTestDelivery(
  tx: DatabaseTransaction,
  { id, workspaceId, eventId, jobId }: Pick<NewDelivery, "id" | "workspaceId" | "eventId" | "jobId">,
): Promise<void> {
  await tx
    .insertInto("webhook_deliveries")
    .values({
      id,
      workspace_id: workspaceId,
      event_id: eventId,
      is_test: true,
      job_id: jobId,
      job_status: "succeeded",
      occurred_at: sql<Date>`patchbay_now()`,
      next_attempt_at: sql<Date>`patchbay_now()`,
    })
    .execute();
}

export async function isTestClaimed(tx: DatabaseTransaction, workspaceId: WorkspaceId): Promise<boolean> {
  const running = await tx
    .selectFrom("webhook_deliveries")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("is_test", "=", true)
    .where("claimed_until", ">", sql<Date>`patchbay_now()`)
    .executeTakeFirst();
  return running !== undefined;
}

/** Begins a new series of attempts. Undefined: there is no such delivery. */
export async function restartDelivery(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  id: DeliveryId,
): Promise<Pick<DeliveryRow, "turn" | "event_id"> | undefined> {
  return tx
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
    .where("id", "=", id)
    .returning(["turn", "event_id"])
    .executeTakeFirst();
}

/** Returns pending deliveries that have been due for so long, and makes them due from now on, so that the next sweep does not find them again. */
export async function renewOverdue(
  tx: SystemTransaction,
  minutes: number,
  limit: number,
): Promise<readonly DeliveryTurn[]> {
  const overdue = await tx
    .updateTable("webhook_deliveries")
    .set({ next_attempt_at: sql<Date>`patchbay_now()` })
    .where("id", "in", (from) =>
      from
        .selectFrom("webhook_deliveries")
        .select("id")
        .where("state", "=", "pending")
        .where("next_attempt_at", "<", sql<Date>`patchbay_now() - make_interval(mins => ${minutes})`)
        .orderBy("next_attempt_at")
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(["id", "workspace_id", "turn"])
    .execute();
  return overdue.map(({ id, workspace_id: workspace, turn }) => ({
    workspaceId: brand("workspace", workspace),
    deliveryId: brand("delivery", id),
    turn,
  }));
}

/** Deletes ended deliveries after so many days. Returns how many it deleted. */
export async function purgeDeliveries(db: SystemHandle, days: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from webhook_deliveries where id in (
      select id from webhook_deliveries
      where created_at < patchbay_now() - make_interval(days => ${days}) and state <> 'pending' limit ${limit})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}
