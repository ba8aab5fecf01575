// Stores deliveries of alerts from their recording to their end. A claim is a later time of the next attempt: if the process dies, the delivery is due again.
import { sql } from "kysely";
import { type AlertId, brand, type WorkspaceId } from "../../contract/ids.ts";
import type { SystemHandle, DatabaseTransaction } from "../../storage/database.ts";
import type { Handle } from "../../storage/system.ts";

export interface NewAlertDelivery {
  readonly id: AlertId;
  readonly workspaceId: WorkspaceId | null;
  readonly destination: string;
  readonly event: string;
  readonly body: string;
}

export interface ClaimedAlert {
  readonly id: AlertId;
  readonly event: string;
  readonly body: string;
  /** Attempts including this one. */
  readonly attempts: number;
}

export async function countPending(tx: DatabaseTransaction, destination: string): Promise<number> {
  const { count } = await tx
    .selectFrom("alert_deliveries")
    .select((column) => column.fn.countAll<bigint>().as("count"))
    .where("destination", "=", destination)
    .where("state", "=", "pending")
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertAlertDeliveries(
  tx: DatabaseTransaction,
  deliveries: readonly NewAlertDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await tx
    .insertInto("alert_deliveries")
    .values(
      deliveries.map(({ id, workspaceId, destination, event, body }) => ({
        id,
        workspace_id: workspaceId,
        destination,
        event,
        body,
      })),
    )
    .execute();
}

/** Those of the destinations that have a delivery to attempt now. */
export async function listDueDestinations(
  db: SystemHandle,
  destinations: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select given.id from unnest(${destinations}::text[]) as given (id) where exists (
      select from alert_deliveries d
      where d.destination = given.id and d.state = 'pending' and d.next_attempt_at <= patchbay_now())`.execute(db);
  return rows.map(({ id }) => id);
}

/** The delivery that has been due for longest, claimed for so many seconds. */
export async function claimAlert(db: SystemHandle, destination: string, seconds: number): Promise<ClaimedAlert | null> {
  const { rows } = await sql<{ id: string; event: string; body: string; attempts: number }>`
    update alert_deliveries set attempts_made = attempts_made + 1, next_attempt_at = patchbay_now() + make_interval(secs => ${seconds})
    where id = (select id from alert_deliveries
      where destination = ${destination} and state = 'pending' and next_attempt_at <= patchbay_now()
      order by next_attempt_at, id limit 1 for update skip locked)
    returning id, event, body, attempts_made as attempts`.execute(db);
  const [row] = rows;
  return row === undefined ? null : { ...row, id: brand("alert", row.id) };
}

/** For an attempt that was not made. */
export async function releaseAlert(db: SystemHandle, { id, attempts }: ClaimedAlert): Promise<void> {
  await db
    .updateTable("alert_deliveries")
    .set({ attempts_made: attempts - 1, next_attempt_at: sql<Date>`patchbay_now()` })
    .where("id", "=", id)
    .where("state", "=", "pending")
    .where("attempts_made", "=", attempts)
    .execute();
}

export interface AttemptedAlert {
  readonly outcome: string;
  readonly statusCode: number | null;
  /** Null: the delivery has ended. */
  readonly nextDelaySeconds: number | null;
}

export async function recordAlertAttempt(
  db: SystemHandle,
  { id }: Pick<ClaimedAlert, "id">,
  { outcome, statusCode, nextDelaySeconds }: AttemptedAlert,
): Promise<void> {
  const hasEnded = nextDelaySeconds === null;
  await db
    .updateTable("alert_deliveries")
    .set({
      last_outcome: outcome,
      last_status: statusCode,
      ...(hasEnded
        ? { state: outcome === "delivered" ? "delivered" : "failed", finished_at: sql<Date>`patchbay_now()` }
        : { next_attempt_at: sql<Date>`patchbay_now() + ${nextDelaySeconds}::float8 * interval '1 second'` }),
    })
    .where("id", "=", id)
    .where("state", "=", "pending")
    .execute();
}

export interface DestinationHealth {
  readonly destination: string;
  readonly pending: number;
  readonly failed: number;
  readonly lastOutcome: string | null;
  readonly lastStatus: number | null;
}

/** Per destination: deliveries that wait or were given up, and the outcome of the newest one that was attempted. */
export async function readDestinationHealth(db: Handle): Promise<readonly DestinationHealth[]> {
  const { rows } = await sql<DestinationHealth>`
    select destination, count(*) filter (where state = 'pending')::int as pending, count(*) filter (where state = 'failed')::int as failed,
      (array_agg(last_outcome order by id desc) filter (where last_outcome is not null))[1] as "lastOutcome",
      (array_agg(last_status order by id desc) filter (where last_outcome is not null))[1] as "lastStatus"
    from alert_deliveries group by destination`.execute(db);
  return rows;
}

/** Deletes deliveries after so many days, ended or not: their destination may no longer be configured. Returns how many. */
export async function purgeAlertDeliveries(db: SystemHandle, days: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from alert_deliveries where id in (
      select id from alert_deliveries where created_at < patchbay_now() - make_interval(days => ${days}) limit ${limit})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}
