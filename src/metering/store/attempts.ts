// Stores attempts. An attempt is open while its amounts are reserved, and is settled once [metering.settle-once].
import { type RawBuilder, sql } from "kysely";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { BudgetState } from "../budget.ts";
import type { Reservation, Settlement } from "../ledger-entries.ts";
import { storePrice } from "../price.ts";
import { windowKeyJson } from "./budget-windows.ts";
import type { AppOf } from "./budgets.ts";
import {
  lockedWindowsOf,
  WANTED_COUNT,
  LOCKED_COLUMNS,
  type LockedRow,
  type LockedWindows,
  lockingQueries,
} from "./lock-budget-windows.ts";

/** A reservation with the budgets in which it is reserved. */
export interface AdmittedReservation {
  readonly item: Reservation;
  readonly budgets: readonly Pick<BudgetState, "id" | "windowStart">[];
}

/** Returns the statement that inserts the attempts. Null: there are none. */
export function insertAttempts(admitted: readonly AdmittedReservation[], nowMs: number): RawBuilder<unknown> | null {
  if (admitted.length === 0) return null;
  const rows = admitted.map(({ item, budgets }) => ({
    id: item.attemptId,
    request_id: item.requestId,
    workspace_id: item.workspaceId,
    app_id: item.appId,
    key_id: item.keyId,
    endpoint: item.endpoint,
    connection: item.connection,
    provider: item.provider,
    model: item.model,
    position: item.position,
    billing_class: item.billingClass,
    purpose: item.purpose ?? null,
    audio_ms: item.audioMs,
    reserved_nano_usd: item.reserveNanoUsd.toString(),
    reserved_tokens: item.tokens ?? 0,
    estimate_nano_usd: item.estimateNanoUsd?.toString() ?? null,
    price: item.price === null ? null : storePrice(item.price),
    windows: budgets.map(({ id, windowStart }) => windowKeyJson({ budgetId: id, windowStart })),
    // Relative to now, because machines' clocks differ and only the database's decides when it has passed.
    deadline_ms: Math.max(0, item.deadlineAt.getTime() - nowMs),
  }));
  const columns = sql.raw(
    "id, request_id, workspace_id, app_id, key_id, endpoint, connection, provider, model, position, billing_class, purpose, audio_ms, reserved_nano_usd, reserved_tokens, estimate_nano_usd, price, windows",
  );
  return sql`insert into attempts (${columns}, deadline_at)
    select ${columns}, patchbay_now() + deadline_ms * interval '1 millisecond' from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (
      id text, request_id text, workspace_id text, app_id text, key_id text, endpoint text, connection text, provider text, model text,
      position int, billing_class text, purpose text, audio_ms bigint, reserved_nano_usd bigint, reserved_tokens bigint, estimate_nano_usd bigint, price jsonb, windows jsonb,
      deadline_ms float8)`;
}

export interface OpenAttempt {
  readonly id: string;
  readonly audio_ms: bigint;
  readonly reserved_nano_usd: bigint;
  readonly reserved_tokens: bigint;
  readonly windows: unknown;
}

type SettledRow =
  | { readonly attempt_id: null }
  | {
      readonly attempt_id: string;
      readonly attempt_audio_ms: bigint;
      readonly attempt_nano_usd: bigint;
      readonly attempt_tokens: bigint;
      readonly attempt_windows: unknown;
    };

export interface SettledAttempts {
  /** The attempts that were open, as they were reserved, by id. */
  readonly open: ReadonlyMap<string, OpenAttempt>;
  /** The budgets of the apps and of these attempts. Null as in `holdBudgets`. */
  readonly held: LockedWindows | null;
}

/** Writes the outcomes, which locks the attempts, and then locks the budgets, each in id order. */
export async function settleAttempts(
  tx: DatabaseTransaction,
  items: readonly Settlement[],
  apps: readonly AppOf[],
): Promise<SettledAttempts> {
  const values = items.map((item) => ({
    id: item.attemptId,
    outcome: item.outcome,
    provider_ms: item.providerMs,
    audio_ms: item.audioMs ?? null,
    billable_audio_ms: item.billableAudioMs,
    charge_nano_usd: item.chargeNanoUsd.toString(),
    provider_request_id: item.providerRequestId,
    receipts: item.receipts,
    provider_failure: item.providerFailure ?? null,
    input_tokens: item.usage?.inputTokens ?? null,
    output_tokens: item.usage?.outputTokens ?? null,
    cached_input_tokens: item.usage?.cachedInputTokens ?? null,
    usage_source: item.usage?.source ?? null,
  }));
  const movedBudgets = sql`select jsonb_array_elements(attempt_windows) ->> 'budget_id' as id from settled`;
  // `provider_seconds_flag` is set above a difference of 2 % or 1 s [metering.provider-seconds]. Attempts are selected by id only, because an index of open
  // attempts would be scanned as a whole.
  const { rows } = await sql<SettledRow & LockedRow>`${PREPARED}
    with given as materialized (select * from jsonb_to_recordset(${JSON.stringify(values)}::jsonb) as given (id text, outcome text,
        provider_ms bigint, audio_ms bigint, billable_audio_ms bigint, charge_nano_usd bigint, provider_request_id text, receipts jsonb, provider_failure jsonb,
        input_tokens bigint, output_tokens bigint, cached_input_tokens bigint, usage_source text)),
      found as materialized (select id, state, audio_ms, reserved_nano_usd, reserved_tokens, windows from attempts
        where id = any(array(select id from given)) order by id for update),
      open as materialized (select * from found where state = 'open'),
      settled as (update attempts set state = 'settled', settled_at = patchbay_now(), outcome = given.outcome,
          audio_ms = coalesce(given.audio_ms, open.audio_ms), provider_ms = given.provider_ms,
          provider_seconds_flag = coalesce(abs(given.provider_ms - open.audio_ms) > least(1000, open.audio_ms / 50.0), false),
          billable_audio_ms = given.billable_audio_ms, charge_nano_usd = given.charge_nano_usd,
          provider_request_id = given.provider_request_id, receipts = given.receipts, provider_failure = given.provider_failure, input_tokens = given.input_tokens,
          output_tokens = given.output_tokens, cached_input_tokens = given.cached_input_tokens, usage_source = given.usage_source
        from open join given using (id) where attempts.id = open.id
        returning open.id as attempt_id, open.audio_ms as attempt_audio_ms, open.reserved_nano_usd as attempt_nano_usd,
          open.reserved_tokens as attempt_tokens, open.windows as attempt_windows),
      ${lockingQueries(apps, movedBudgets)}
    select settled.*, ${LOCKED_COLUMNS} from ${WANTED_COUNT} left join (settled full join held on false) on true
      order by held.id`.execute(tx);
  const open = rows.flatMap((row) => (row.attempt_id === null ? [] : [openAttemptOf(row)]));
  return { open: new Map(open.map((attempt) => [attempt.id, attempt])), held: lockedWindowsOf(rows) };
}

function openAttemptOf(row: Exclude<SettledRow, { readonly attempt_id: null }>): OpenAttempt {
  return {
    id: row.attempt_id,
    audio_ms: row.attempt_audio_ms,
    reserved_nano_usd: row.attempt_nano_usd,
    reserved_tokens: row.attempt_tokens,
    windows: row.attempt_windows,
  };
}

/** Locks open attempts that have been past their deadline for so long. Skips those that another transaction has locked. */
export async function lockOverdueAttempts(
  tx: DatabaseTransaction,
  graceSeconds: number,
  limit: number,
): Promise<readonly OpenAttempt[]> {
  const { rows } = await sql<OpenAttempt>`
    select id, audio_ms, reserved_nano_usd, reserved_tokens, windows from attempts
    where state = 'open' and deadline_at <= patchbay_now() - ${sql.lit(graceSeconds)} * interval '1 second'
    order by id limit ${sql.lit(limit)} for update skip locked`.execute(tx);
  return rows;
}

/** Settles open attempts without a charge. Marks them, so that the operator can compare them with the provider's bill. */
export async function settleAsUnknown(tx: DatabaseTransaction, ids: readonly string[]): Promise<void> {
  await sql`update attempts set state = 'settled', settled_at = patchbay_now(), outcome = 'unknown', unresolved = true,
      billable_audio_ms = 0, charge_nano_usd = 0
    where id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)) and state = 'open'`.execute(tx);
}
