// Reads the delivery log: deliveries with their latest attempts, newest first [webhooks.log].
import { type Selectable, sql } from "kysely";
import type { DeliveryId, WorkspaceId } from "../../contract/ids.ts";
import type { AttemptOutcome, DeliveryState } from "../../contract/webhook.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Handle } from "../../storage/system.ts";
import type { Tables } from "../../storage/schema/tables.ts";
import type { DeliveryRow } from "./deliveries.ts";

export type AttemptRow = Selectable<Tables["webhook_attempts"]>;

export interface LogFilter {
  /** Null: deliveries of every workspace that the handle can read. */
  readonly workspaceId: WorkspaceId | null;
  readonly status: DeliveryState | null;
  /** Deliveries older than this id. */
  readonly cursor: string | null;
  readonly limit: number;
}

export async function listDeliveryRows(
  db: Handle,
  { workspaceId, status, cursor, limit }: LogFilter,
): Promise<readonly DeliveryRow[]> {
  let query = db.selectFrom("webhook_deliveries").selectAll();
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  if (status !== null) query = query.where("state", "=", status);
  // Repeats the predicate of the partial index, so that the planner uses it.
  if (status !== null && status !== "delivered") query = query.where(sql<boolean>`state <> 'delivered'`);
  if (cursor !== null) query = query.where("id", "<", cursor);
  return query.orderBy("id", "desc").limit(limit).execute();
}

export async function readDelivery(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  id: DeliveryId,
): Promise<DeliveryRow | undefined> {
  return tx
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** The latest attempts of deliveries that the caller may read: no ownership check here. */
export async function listAttempts(
  db: Handle,
  deliveries: readonly Pick<DeliveryRow, "id">[],
  latest: number,
): Promise<ReadonlyMap<string, readonly AttemptRow[]>> {
  if (deliveries.length === 0) return new Map();
  const attempts = await db
    .selectFrom("webhook_attempts as attempt")
    .innerJoin("webhook_deliveries as delivery", "delivery.id", "attempt.delivery_id")
    .selectAll("attempt")
    .where(
      "attempt.delivery_id",
      "in",
      deliveries.map(({ id }) => id),
    )
    .where(sql<boolean>`attempt.number > delivery.attempts_total - ${latest}`)
    .orderBy("attempt.number")
    .execute();
  return Map.groupBy(attempts, ({ delivery_id: id }) => id);
}

export interface NewAttempt {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly deliveryId: DeliveryId;
  readonly number: number;
  readonly startedAt: Date;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | null;
  readonly latencyMs: number;
  readonly response: string | null;
}
