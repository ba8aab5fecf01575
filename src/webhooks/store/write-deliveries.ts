// Writes what a batch has decided about deliveries that it has locked, in one statement: their states, their attempts, and as many claims as their receivers
// have room for.
import { sql } from "kysely";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { SystemTransaction } from "../../storage/database.ts";
import type { NewAttempt } from "./delivery-log.ts";
import type { DeliverySubject } from "./lock-deliveries.ts";
import type { DeliveryRow } from "./deliveries.ts";

/** Its claim is released. */
export interface DeliveryChange extends DeliverySubject {
  readonly turn: number;
  readonly state: DeliveryRow["state"];
  readonly attemptsMade: number;
  readonly attemptsTotal: number;
  readonly endedBy: DeliveryRow["ended_by"];
  /** From now to the next attempt. Null: as before. */
  readonly nextInSeconds: number | null;
}

export interface DeliveryWrite {
  /** At most one of each delivery. */
  readonly changes: readonly DeliveryChange[];
  readonly attempts: readonly NewAttempt[];
  /** Deliveries to claim, none of them changed too. */
  readonly claims: readonly DeliverySubject[];
  readonly leaseSeconds: number;
  /** Maximum claims of a workspace. */
  readonly perReceiver: number;
}

/** The webhooks must be locked, so that claims are counted by one transaction at a time. Returns the claimed deliveries, each with the end of its claim. */
export async function writeDeliveries(
  tx: SystemTransaction,
  { changes, attempts, claims, leaseSeconds, perReceiver }: DeliveryWrite,
): Promise<ReadonlyMap<string, string>> {
  if (changes.length + attempts.length + claims.length === 0) return new Map();
  const changeRows = changes.map((change) => ({
    id: change.id,
    workspace_id: change.workspaceId,
    turn: change.turn,
    state: change.state,
    attempts_made: change.attemptsMade,
    attempts_total: change.attemptsTotal,
    ended_by: change.endedBy,
    next_in_seconds: change.nextInSeconds,
  }));
  const attemptRows = attempts.map((attempt) => ({
    id: attempt.id,
    workspace_id: attempt.workspaceId,
    delivery_id: attempt.deliveryId,
    number: attempt.number,
    started_at: attempt.startedAt.toISOString(),
    outcome: attempt.outcome,
    status_code: attempt.statusCode,
    latency_ms: attempt.latencyMs,
    response: attempt.response,
  }));
  const claimRows = claims.map(({ id, workspaceId }, position) => ({ id, workspace_id: workspaceId, position }));
  const { rows } = await sql<{ id: string; claimed_until_text: string }>`${PREPARED}
    with changes as materialized (select * from jsonb_to_recordset(${JSON.stringify(changeRows)}::jsonb) as change (id text, workspace_id text,
        turn int, state text, attempts_made int, attempts_total int, ended_by text, next_in_seconds float8)),
      claims as materialized (select * from jsonb_to_recordset(${JSON.stringify(claimRows)}::jsonb) as claim (id text, workspace_id text, position int)),
      running as materialized (select workspace_id, count(*) as claimed from webhook_deliveries
        where workspace_id = any(array(select workspace_id from claims)) and claimed_until > patchbay_now()
          and id <> all(array(select id from changes)) group by workspace_id),
      placed as materialized (select claims.id, claims.workspace_id, coalesce(running.claimed, 0)
          + row_number() over (partition by claims.workspace_id order by claims.position) as place
        from claims left join running on running.workspace_id = claims.workspace_id),
      changed as (update webhook_deliveries as delivery set turn = changes.turn, state = changes.state, attempts_made = changes.attempts_made,
          attempts_total = changes.attempts_total, ended_by = changes.ended_by, claimed_until = null,
          next_attempt_at = case when changes.state = 'pending' then
            coalesce(patchbay_now() + changes.next_in_seconds * interval '1 second', delivery.next_attempt_at) end,
          finished_at = case when changes.state <> 'pending' then coalesce(delivery.finished_at, patchbay_now()) end
        from changes where delivery.id = any(array(select id from changes)) and delivery.id = changes.id
          and delivery.workspace_id = changes.workspace_id),
      recorded as (insert into webhook_attempts (id, workspace_id, delivery_id, number, started_at, outcome, status_code, latency_ms, response)
        select id, workspace_id, delivery_id, number, started_at, outcome, status_code, latency_ms, response
        from jsonb_to_recordset(${JSON.stringify(attemptRows)}::jsonb) as attempt (id text, workspace_id text, delivery_id text, number int,
          started_at timestamptz, outcome text, status_code int, latency_ms int, response text))
    update webhook_deliveries as delivery set claimed_until = patchbay_now() + make_interval(secs => ${leaseSeconds}::float8)
    from placed where delivery.id = any(array(select id from placed)) and delivery.id = placed.id
      and delivery.workspace_id = placed.workspace_id and placed.place <= ${perReceiver}::int
    returning delivery.id, delivery.claimed_until::text as claimed_until_text`.execute(tx);
  return new Map(rows.map(({ id, claimed_until_text: until }) => [id, until]));
}
