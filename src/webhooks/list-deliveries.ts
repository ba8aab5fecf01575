// GET /workspace/{tenant_id}/stt-webhook/deliveries and GET /admin/v1/deliveries: the delivery log, newest first [webhooks.log] [admin.deliveries].
import { type Kysely, type Selectable, sql } from "kysely";
import type { z } from "zod";
import type { ListedDeliveryView } from "../contract/admin/delivery-list.ts";
import type { DeliveryId, WorkspaceId } from "../contract/ids.ts";
import type { AttemptOutcome, deliveryList, DeliveryState, DeliveryView } from "../contract/webhook.ts";
import { pageOf } from "../lib/list-page.ts";
import type { Database } from "../storage/database.ts";
import { asWorkspaceOrSystem } from "../storage/system.ts";
import type { Tables } from "../storage/schema/tables.ts";
import { eventBody } from "./event-body.ts";

const SHOWN_ATTEMPTS = 20;

export interface DeliveryQuery {
  readonly status: DeliveryState | null;
  readonly limit: number;
  readonly cursor: string | null;
}

/** Lists the deliveries of one workspace. */
export async function listDeliveries(
  database: Pick<Database, "inWorkspace">,
  workspaceId: WorkspaceId,
  request: DeliveryQuery,
): Promise<z.infer<typeof deliveryList>> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const { page, nextCursor } = await readPage(tx, workspaceId, request);
    return { object: "list", data: await describe(tx, page), next_cursor: nextCursor };
  });
}

export interface ListedDeliveries {
  readonly data: readonly ListedDeliveryView[];
  /** Cursor of the next page. Null: this is the last page. */
  readonly end: string | null;
}

/** For the operator: deliveries of one workspace or, with null, of all. */
export async function listAllDeliveries(
  database: Database,
  workspaceId: WorkspaceId | null,
  request: DeliveryQuery,
): Promise<ListedDeliveries> {
  return asWorkspaceOrSystem(database, workspaceId, async (db) => {
    const { page, nextCursor } = await readPage(db, workspaceId, request);
    const attempts = await attemptsOf(db, page);
    return { data: page.map((row) => listedView(row, view(row, attempts.get(row.id) ?? []))), end: nextCursor };
  });
}

async function readPage(
  db: Kysely<Tables>,
  workspaceId: WorkspaceId | null,
  { status, limit, cursor }: DeliveryQuery,
): Promise<{ readonly page: readonly DeliveryRow[]; readonly nextCursor: string | null }> {
  let query = db.selectFrom("webhook_deliveries").selectAll();
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  if (status !== null) query = query.where("state", "=", status);
  // Repeats the predicate of the partial index, so that the planner uses it.
  if (status !== null && status !== "delivered") query = query.where(sql<boolean>`state <> 'delivered'`);
  if (cursor !== null) query = query.where("id", "<", cursor);
  const rows = await query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  return pageOf(rows, limit);
}

export async function describeDelivery(
  database: Pick<Database, "inWorkspace">,
  workspaceId: WorkspaceId,
  id: DeliveryId,
): Promise<DeliveryView | null> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const rows = await tx
      .selectFrom("webhook_deliveries")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return (await describe(tx, rows))[0] ?? null;
  });
}

type DeliveryRow = Selectable<Tables["webhook_deliveries"]>;
type AttemptRow = Selectable<Tables["webhook_attempts"]>;

async function describe(db: Kysely<Tables>, rows: readonly DeliveryRow[]): Promise<DeliveryView[]> {
  const attempts = await attemptsOf(db, rows);
  return rows.map((row) => view(row, attempts.get(row.id) ?? []));
}

/** Attempts of deliveries that the caller may read: no ownership check here. */
async function attemptsOf(
  db: Kysely<Tables>,
  rows: readonly DeliveryRow[],
): Promise<ReadonlyMap<string, readonly AttemptRow[]>> {
  if (rows.length === 0) return new Map();
  const attempts = await db
    .selectFrom("webhook_attempts as attempt")
    .innerJoin("webhook_deliveries as delivery", "delivery.id", "attempt.delivery_id")
    .selectAll("attempt")
    .where(
      "attempt.delivery_id",
      "in",
      rows.map(({ id }) => id),
    )
    .where(sql<boolean>`attempt.number > delivery.attempts_total - ${SHOWN_ATTEMPTS}`)
    .orderBy("attempt.number")
    .execute();
  return Map.groupBy(attempts, ({ delivery_id: id }) => id);
}

function listedView(row: DeliveryRow, delivery: DeliveryView): ListedDeliveryView {
  const attempts = delivery.attempts.map(({ response: _response, ...attempt }) => attempt);
  return { ...delivery, workspace: row.workspace_id, app: row.app_id, attempts };
}

function view(row: DeliveryRow, attempts: readonly AttemptRow[]): DeliveryView {
  return {
    object: "stt_webhook_delivery",
    id: row.id,
    event_id: row.event_id,
    event: eventBody(row),
    test: row.is_test,
    status: row.state,
    created_at: row.created_at.toISOString(),
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    ended_by: row.ended_by,
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      started_at: attempt.started_at.toISOString(),
      outcome: attempt.outcome as AttemptOutcome,
      status_code: attempt.status_code,
      latency_ms: attempt.latency_ms,
      response: attempt.response,
    })),
  };
}
