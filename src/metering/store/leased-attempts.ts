// Stores the attempts that leases paid for: they are settled from the start, and arrive in batches.
import { type RawBuilder, sql } from "kysely";
import type { AttemptId, LeaseId, RequestId } from "../../contract/ids.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import { columnsBut, insertDeduplicated, type SharingRow, coarseTimestamp } from "../../storage/insert-deduplicated.ts";
import type { TokenUsage } from "../ledger-entries.ts";

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

/** An `insert`, to which conditions may be added. */
export function insertLeased(batch: readonly LeasedAttempt[], nowMs: number): RawBuilder<unknown> {
  // `settled_at` is the time of this insert, on which the usage roll-up depends.
  return sql`insert into attempts (${COLUMNS}, audio_ms, state, created_at, deadline_at, settled_at, billable_audio_ms)
    select ${COLUMNS}, 0, 'settled', ${coarseTimestamp(nowMs, "reserved_at_ms")}, patchbay_now(), patchbay_now(), 0 from ${insertDeduplicated(batch, OWN, SHARED)}`;
}

/** Returns the attempts that were not in the table yet. Only they count. */
export async function insertMissing(
  tx: DatabaseTransaction,
  batch: readonly LeasedAttempt[],
  nowMs: number,
): Promise<readonly LeasedAttempt[]> {
  const { rows } = await sql<{
    id: string;
  }>`${PREPARED} ${insertLeased(batch, nowMs)} on conflict (id) do nothing returning id`.execute(tx);
  const ids = new Set(rows.map((row) => row.id));
  return batch.filter((item) => ids.has(item.attemptId));
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
  receipts: "jsonb",
  provider_failure: "jsonb",
  usage_source: "text",
  lease_id: "text",
} as const;

export type SharedColumns = Readonly<Record<keyof typeof SHARED, unknown>>;

const COLUMNS = columnsBut("reserved_at_ms", OWN, SHARED);
