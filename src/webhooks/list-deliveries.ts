// GET /workspace/{tenant_id}/stt-webhook/deliveries and GET /admin/v1/deliveries: the delivery log, newest first [webhooks.log] [admin.deliveries].
import type { z } from "zod";
import type { ListedDeliveryView } from "../contract/admin/delivery-list.ts";
import type { DeliveryId, WorkspaceId } from "../contract/ids.ts";
import type { AttemptOutcome, deliveryList, DeliveryState, DeliveryView } from "../contract/webhook.ts";
import { pageOf } from "../lib/list-page.ts";
import type { Database } from "../storage/database.ts";
import { asWorkspaceOrSystem, type Handle } from "../storage/system.ts";
import { eventBody } from "./event-body.ts";
import type { DeliveryRow } from "./store/deliveries.ts";
import { type AttemptRow, listAttempts, listDeliveryRows, readDelivery } from "./store/delivery-log.ts";

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
    const attempts = await listAttempts(db, page, SHOWN_ATTEMPTS);
    return { data: page.map((row) => listedView(row, view(row, attempts.get(row.id) ?? []))), end: nextCursor };
  });
}

async function readPage(
  db: Handle,
  workspaceId: WorkspaceId | null,
  request: DeliveryQuery,
): Promise<{ readonly page: readonly DeliveryRow[]; readonly nextCursor: string | null }> {
  const rows = await listDeliveryRows(db, { ...request, workspaceId, limit: request.limit + 1 });
  return pageOf(rows, request.limit);
}

export async function describeDelivery(
  database: Pick<Database, "inWorkspace">,
  workspaceId: WorkspaceId,
  id: DeliveryId,
): Promise<DeliveryView | null> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const row = await readDelivery(tx, workspaceId, id);
    return row === undefined ? null : ((await describe(tx, [row]))[0] ?? null);
  });
}

async function describe(db: Handle, rows: readonly DeliveryRow[]): Promise<DeliveryView[]> {
  const attempts = await listAttempts(db, rows, SHOWN_ATTEMPTS);
  return rows.map((row) => view(row, attempts.get(row.id) ?? []));
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
