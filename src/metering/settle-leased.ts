// Writes a batch of chats that leases paid for in one transaction: a settled row each, and their amounts moved from reserved to spent in the leases and
// budgets [metering.lease-shared]. Nearly always it is a single statement.
import { addSettled, type LeaseChange, lockLeases } from "./store/budget-leases.ts";
import { changeWindows, readWindowKeys } from "./store/budget-windows.ts";
import { lockBudgets } from "./store/budgets.ts";
import { insertMissing, type LeasedAttempt, type SharedColumns } from "./store/leased-attempts.ts";
import { settleInOneStatement } from "./store/settle-in-one-statement.ts";
import type { Database, SystemTransaction } from "../storage/database.ts";
import { isTransient } from "../storage/database-faults.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { move } from "./grow-lease.ts";
import type { Reservation, Settlement } from "./ledger-entries.ts";
import { storePrice } from "./price.ts";

export function leasedAttempt(
  reservation: Reservation,
  settlement: Settlement,
  { leaseId, tokens, reservedAtMs }: Pick<LeasedAttempt, "leaseId" | "tokens" | "reservedAtMs">,
  cacheText: (shared: object) => string,
): LeasedAttempt {
  return {
    attemptId: reservation.attemptId,
    requestId: reservation.requestId,
    leaseId,
    nanoUsd: settlement.chargeNanoUsd,
    tokens,
    reservedNanoUsd: reservation.reserveNanoUsd,
    reservedTokens: reservation.tokens ?? 0,
    reservedAtMs,
    estimateNanoUsd: reservation.estimateNanoUsd,
    providerRequestId: settlement.providerRequestId,
    usage: settlement.usage ?? null,
    shared: cacheText(sharedOf(reservation, settlement, leaseId)),
  };
}

/** `nowMs`: from the clock of the reservations. `mayBeThere`: the batch is a retry after a commit with a lost result. */
export async function settleLeased(
  database: Database,
  batch: readonly LeasedAttempt[],
  { nowMs, mayBeThere }: { readonly nowMs: number; readonly mayBeThere: boolean },
): Promise<void> {
  const access = bypassRls(database, "batch");
  try {
    if (!mayBeThere && (await settleInOneStatement(access.db, batch, { sums: sumByLease(batch), nowMs }))) return;
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
  await transact(access, (tx) => settleInSteps(tx, batch, nowMs));
}

/** A new statement for each step sees what was committed before its locks were granted. */
async function settleInSteps(tx: SystemTransaction, batch: readonly LeasedAttempt[], nowMs: number): Promise<void> {
  const inserted = await insertMissing(tx, batch, nowMs);
  const leases = await lockLeases(tx, [...new Set(batch.map((item) => item.leaseId))]);
  // A lapsed lease was counted as spent as a whole: its calls are recorded, but not counted again.
  const sums = sumByLease(inserted.filter((item) => leases.has(item.leaseId)));
  const changes = sums.flatMap((sum) => {
    const reserved = { nanoUsd: -sum.nanoUsd, tokens: -sum.tokens };
    return readWindowKeys(leases.get(sum.id)?.windows ?? []).map((key) => move(key, { reserved, spent: sum }));
  });
  await lockBudgets(tx, [...new Set(changes.map((change) => change.budgetId))]);
  await changeWindows(tx, changes);
  await addSettled(tx, sums);
}

function sumByLease(batch: readonly LeasedAttempt[]): readonly LeaseChange[] {
  const sums = new Map<string, LeaseChange>();
  for (const { leaseId: id, nanoUsd, tokens } of batch) {
    const sum = sums.get(id) ?? { id, nanoUsd: 0n, tokens: 0n };
    sums.set(id, { id, nanoUsd: sum.nanoUsd + nanoUsd, tokens: sum.tokens + tokens });
  }
  return [...sums.values()];
}

function sharedOf(reservation: Reservation, settlement: Settlement, leaseId: string): SharedColumns {
  return {
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
    price: reservation.price === null ? null : storePrice(reservation.price),
    outcome: settlement.outcome,
    receipts: settlement.receipts,
    provider_failure: settlement.providerFailure ?? null,
    usage_source: settlement.usage?.source ?? null,
    lease_id: leaseId,
  };
}
