// GET /workspace/{tenant_id}/stt-webhook/deliveries: the log, newest first (contract 6).
import { type Selectable, sql } from "kysely";
import type { z } from "zod";
import type { DeliveryId, WorkspaceId } from "../contract/ids.ts";
import type { AttemptOutcome, deliveryList, DeliveryState, DeliveryView } from "../contract/webhook.ts";
import { pageOf } from "../lib/page.ts";
import type { Database, Transacting } from "../storage/database.ts";
import type { Tables } from "../storage/tables.ts";
import { eventBody } from "./event-body.ts";

const SHOWN_ATTEMPTS = 20;

export interface DeliveryQuery {
  readonly status: DeliveryState | null;
  readonly limit: number;
  readonly cursor: string | null;
}

export async function listDeliveries(
  database: Pick<Database, "inWorkspace">,
  workspaceId: WorkspaceId,
  asked: DeliveryQuery,
): Promise<z.infer<typeof deliveryList>> {
  return database.inWorkspace(workspaceId, (tx) => readPage(tx, workspaceId, asked));
}

async function readPage(
  tx: Transacting,
  workspaceId: WorkspaceId,
  { status, limit, cursor }: DeliveryQuery,
): Promise<z.infer<typeof deliveryList>> {
  let query = tx.selectFrom("webhook_deliveries").selectAll().where("workspace_id", "=", workspaceId);
  if (status !== null) query = query.where("state", "=", status);
  if (cursor !== null) query = query.where("id", "<", cursor);
  const rows = await query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const { page, nextCursor } = pageOf(rows, limit);
  return { object: "list", data: await describe(tx, page), next_cursor: nextCursor };
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

async function describe(tx: Transacting, rows: readonly DeliveryRow[]): Promise<DeliveryView[]> {
  if (rows.length === 0) return [];
  const attempts = await tx
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
  return rows.map((row) =>
    view(
      row,
      attempts.filter(({ delivery_id: id }) => id === row.id),
    ),
  );
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
