// Writes a batch of chats that leases paid for in one transaction: a settled row each, and their amounts moved from reserved to spent in the leases and
// budgets [metering.lease-shared].
import { sql } from "kysely";
import type { AttemptId, LeaseId, RequestId } from "../contract/ids.ts";
import { addSettled, type LeaseChange, lockLeases } from "./store/budget-leases.ts";
import { changeWindows, readWindowKeys } from "./store/budget-windows.ts";
import { lockBudgets } from "./store/budgets.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { PREPARED } from "../storage/connection/prepared.ts";
import { columnsBut, insertDeduplicated, type SharingRow, timedBy } from "../storage/insert-deduplicated.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { move } from "./grow-lease.ts";
import type { Reservation, Settlement, TokenUsage } from "./ledger-entries.ts";
import { storePrice } from "./price.ts";

export interface LeasedAttempt extends SharingRow {
  readonly attemptId: AttemptId;
  readonly requestId: RequestId;
  readonly leaseId: LeaseId;
  readonly nanoUsd: bigint;
  /** Tokens that count against the budgets. */
  readonly tokens: bigint;
  readonly reservedNanoUsd: bigint;
  readonly reservedTokens: number;
  readonly reservedAtMs: number;
  readonly estimateNanoUsd: bigint | null;
  readonly providerRequestId: string | null;
  readonly usage: TokenUsage | null;
}

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

/** `nowMs`: from the clock of the reservations. `mayBeThere`: the batch is a retry after a commit whose result was lost. */
export async function settleLeased(
  database: Database,
  batch: readonly LeasedAttempt[],
  options: { readonly nowMs: number; readonly mayBeThere: boolean },
): Promise<void> {
  await transact(bypassRls(database, "batch"), async (tx) => {
    const inserted = await insertSettled(tx, batch, options);
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

type Shared = Readonly<Record<keyof typeof SHARED, unknown>>;

function sharedOf(reservation: Reservation, settlement: Settlement, leaseId: LeaseId): Shared {
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
    provider_failure: settlement.providerFailure ?? null,
    usage_source: settlement.usage?.source ?? null,
    lease_id: leaseId,
  };
}

const OWN = {
  id: ["text", (item: LeasedAttempt) => item.attemptId],
  request_id: ["text", (item: LeasedAttempt) => item.requestId],
  reserved_nano_usd: ["bigint", (item: LeasedAttempt) => item.reservedNanoUsd],
  reserved_tokens: ["bigint", (item: LeasedAttempt) => item.reservedTokens],
  estimate_nano_usd: ["bigint", (item: LeasedAttempt) => item.estimateNanoUsd],
  charge_nano_usd: ["bigint", (item: LeasedAttempt) => item.nanoUsd],
  provider_request_id: ["text", (item: LeasedAttempt) => item.providerRequestId],
  input_tokens: ["bigint", (item: LeasedAttempt) => item.usage?.inputTokens ?? null],
  output_tokens: ["bigint", (item: LeasedAttempt) => item.usage?.outputTokens ?? null],
  cached_input_tokens: ["bigint", (item: LeasedAttempt) => item.usage?.cachedInputTokens ?? null],
  reserved_at_ms: ["float8", (item: LeasedAttempt) => item.reservedAtMs],
} as const;

const SHARED = {
  workspace_id: "text",
  app_id: "text",
  key_id: "text",
  endpoint: "text",
  connection: "text",
  provider: "text",
  model: "text",
  position: "int",
  billing_class: "text",
  purpose: "text",
  price: "jsonb",
  outcome: "text",
  provider_failure: "jsonb",
  usage_source: "text",
  lease_id: "text",
} as const;

const COLUMNS = columnsBut("reserved_at_ms", OWN, SHARED);

/** Returns the attempts that were not in the table yet. Only they count. */
async function insertSettled(
  tx: Transacting,
  batch: readonly LeasedAttempt[],
  { nowMs, mayBeThere }: { readonly nowMs: number; readonly mayBeThere: boolean },
): Promise<readonly LeasedAttempt[]> {
  // `settled_at` is the time of this insert, on which the usage roll-up depends.
  const insert = sql`${PREPARED} insert into attempts (${COLUMNS}, audio_ms, state, created_at, deadline_at, settled_at, billable_audio_ms)
    select ${COLUMNS}, 0, 'settled', ${timedBy(nowMs, "reserved_at_ms")}, patchbay_now(), patchbay_now(), 0 from ${insertDeduplicated(batch, OWN, SHARED)}`;
  if (!mayBeThere) {
    await insert.execute(tx);
    return batch;
  }
  const { rows } = await sql<{ id: string }>`${insert} on conflict (id) do nothing returning id`.execute(tx);
  const ids = new Set(rows.map((row) => row.id));
  return batch.filter((item) => ids.has(item.attemptId));
}
