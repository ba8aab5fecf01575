// Writes a batch of chats that were paid from leases, in one transaction: a settled row for each, and the leases' and their
// budgets' figures moved from held to spent (contract 9).
import { sql } from "kysely";
import type { AttemptId, LeaseId } from "../contract/ids.ts";
import { addSettled, type LeaseChange, lockLeases } from "../storage/budget-leases.ts";
import { changeWindows, lockBudgets } from "../storage/budget-windows.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { PREPARED } from "../storage/prepared.ts";
import { batches } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { move } from "./grow-lease.ts";
import type { Reservation, Settlement } from "./ledger.ts";
import { storePrice } from "./price.ts";
import { readWindowKeys } from "./settle-batch.ts";

/** Until it is written it is kept as one string: thousands wait, and a garbage collector that moves them moves one thing each. */
export interface LeasedAttempt {
  readonly attemptId: AttemptId;
  readonly leaseId: LeaseId;
  readonly nanoUsd: bigint;
  /** What counts against the budgets. */
  readonly tokens: bigint;
  /** As JSON. */
  readonly row: string;
}

export function leasedAttempt(
  reservation: Reservation,
  settlement: Settlement,
  { leaseId, tokens, reservedAtMs }: Pick<LeasedAttempt, "leaseId" | "tokens"> & { readonly reservedAtMs: number },
): LeasedAttempt {
  const { attemptId } = reservation;
  const row = JSON.stringify({ ...rowOf(reservation, settlement), lease_id: leaseId, reserved_at_ms: reservedAtMs });
  return { attemptId, leaseId, nanoUsd: settlement.chargeNanoUsd, tokens, row };
}

/** `nowMs`: of the clock that they were reserved by. */
export async function settleLeased(database: Database, batch: readonly LeasedAttempt[], nowMs: number): Promise<void> {
  await transact(batches(database), async (tx) => {
    const leases = await lockLeases(tx, [...new Set(batch.map((item) => item.leaseId))]);
    // Written again after a commit whose answer was lost, a row is there already and counts no more.
    const inserted = await insertSettled(tx, batch, nowMs);
    // A lease that lapsed was counted as spent as a whole: its calls are put on record, and nothing is counted twice.
    const sums = sumByLease(batch.filter((item) => inserted.has(item.attemptId) && leases.has(item.leaseId)));
    const changes = sums.flatMap((sum) => {
      const reserved = { nanoUsd: -sum.nanoUsd, tokens: -sum.tokens };
      return readWindowKeys(leases.get(sum.id)?.windows ?? []).map((key) => move(key, { reserved, spent: sum }));
    });
    await lockBudgets(tx, [...new Set(changes.map((change) => change.budgetId))]);
    await changeWindows(tx, changes);
    await addSettled(tx, sums);
  });
}

function sumByLease(batch: readonly LeasedAttempt[]): readonly LeaseChange[] {
  const sums = new Map<string, LeaseChange>();
  for (const { leaseId: id, nanoUsd, tokens } of batch) {
    const sum = sums.get(id) ?? { id, nanoUsd: 0n, tokens: 0n };
    sums.set(id, { id, nanoUsd: sum.nanoUsd + nanoUsd, tokens: sum.tokens + tokens });
  }
  return [...sums.values()];
}

function rowOf(reservation: Reservation, settlement: Settlement) {
  return {
    id: reservation.attemptId,
    request_id: reservation.requestId,
    workspace_id: reservation.workspaceId,
    app_id: reservation.appId,
    key_id: reservation.keyId,
    endpoint: reservation.endpoint,
    connection: reservation.connection,
    provider: reservation.provider,
    model: reservation.model,
    position: reservation.position,
    billing_class: reservation.billingClass,
    purpose: reservation.purpose ?? null,
    reserved_nano_usd: reservation.reserveNanoUsd.toString(),
    reserved_tokens: reservation.tokens ?? 0,
    estimate_nano_usd: reservation.estimateNanoUsd?.toString() ?? null,
    price: reservation.price === null ? null : storePrice(reservation.price),
    outcome: settlement.outcome,
    charge_nano_usd: settlement.chargeNanoUsd.toString(),
    provider_request_id: settlement.providerRequestId,
    input_tokens: settlement.usage?.inputTokens ?? null,
    output_tokens: settlement.usage?.outputTokens ?? null,
    cached_input_tokens: settlement.usage?.cachedInputTokens ?? null,
    usage_source: settlement.usage?.source ?? null,
  };
}

async function insertSettled(
  tx: Transacting,
  batch: readonly LeasedAttempt[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const columns = sql.raw(
    "id, request_id, workspace_id, app_id, key_id, endpoint, connection, provider, model, position, billing_class, purpose, reserved_nano_usd, reserved_tokens, estimate_nano_usd, price, outcome, charge_nano_usd, provider_request_id, input_tokens, output_tokens, cached_input_tokens, usage_source, lease_id",
  );
  // Settled when it is written, which the roll-up of usage rests on.
  const createdAt = sql`patchbay_now() - greatest(0, ${nowMs}::float8 - reserved_at_ms) * interval '1 millisecond'`;
  const inserted = await sql<{
    id: string;
  }>`${PREPARED} insert into attempts (${columns}, audio_ms, state, created_at, deadline_at, settled_at, billable_audio_ms)
    select ${columns}, 0, 'settled', ${createdAt}, patchbay_now(), patchbay_now(), 0 from jsonb_to_recordset(${`[${batch.map((item) => item.row).join(",")}]`}::jsonb) as given (
      id text, request_id text, workspace_id text, app_id text, key_id text, endpoint text, connection text, provider text, model text,
      position int, billing_class text, purpose text, reserved_nano_usd bigint, reserved_tokens bigint, estimate_nano_usd bigint, price jsonb,
      outcome text, charge_nano_usd bigint, provider_request_id text, input_tokens bigint, output_tokens bigint,
      cached_input_tokens bigint, usage_source text, lease_id text, reserved_at_ms float8)
    on conflict (id) do nothing returning id`.execute(tx);
  return new Set(inserted.rows.map((row) => row.id));
}
