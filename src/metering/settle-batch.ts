// Settles a batch of attempts (ledger-batch.ts): writes outcome and charge, moves the reservation to spent in the budgets and ends the idempotency slot
// [metering.settle-atomic]. A second settlement changes nothing [metering.settle-once].
import { sql } from "kysely";
import type { Transacting } from "../storage/database.ts";
import { readWindowKeys, type WindowChange } from "../storage/budget-windows.ts";
import type { AppOf } from "../storage/budgets.ts";
import {
  allHeld,
  COUNTED,
  HELD,
  type HeldRow,
  type HeldWindows,
  holdBudgets,
  holding,
} from "../storage/held-budgets.ts";
import { burnSlots, completeSlot, dispatchSlots, releaseSlots } from "../storage/idempotency-slots.ts";
import { PREPARED } from "../storage/prepared.ts";
import type { Seal } from "../storage/seal.ts";
import type { Settled, Settlement, SlotEnd, TokenUsage } from "./ledger-entries.ts";

export interface OpenAttempt {
  readonly id: string;
  readonly audio_ms: bigint;
  readonly reserved_nano_usd: bigint;
  readonly reserved_tokens: bigint;
  readonly windows: unknown;
}

/** Settlements with written and locked rows, with the changes that follow from them. */
export interface Settling {
  readonly batch: readonly Settlement[];
  /** Settlements that took effect. Of two for the same attempt in one batch, the first wins. */
  readonly changed: ReadonlySet<Settlement>;
  readonly moves: readonly WindowChange[];
}

/** For a batch without settlements and apps. */
const NONE: HeldWindows = { rows: [], windows: [] };

export interface SettledAndHeld {
  readonly settling: Settling;
  /** The budgets of the apps and those that the settlements change. Null as in `holdBudgets`. */
  readonly held: HeldWindows | null;
}

/** Writes the outcomes, which locks the attempts, and then locks the budgets, in one statement and each in id order. */
export async function settleAndHold(
  tx: Transacting,
  batch: readonly Settlement[],
  apps: readonly AppOf[],
): Promise<SettledAndHeld> {
  const uniqueItems = [...new Map(batch.toReversed().map((item) => [item.attemptId, item])).values()];
  const { open, held } = await writeOutcomes(tx, uniqueItems, apps);
  const changed = new Set(uniqueItems.filter((item) => open.has(item.attemptId)));
  const moves = [...changed].flatMap((item) => {
    const attempt = open.get(item.attemptId);
    return attempt === undefined ? [] : movesOf({ attempt, ...spentBy(item, attempt) });
  });
  return { settling: { batch, changed, moves }, held };
}

/** The caller has locked the budgets, and has updated their windows or will do so. */
export async function finishSettling(tx: Transacting, seal: Seal, settling: Settling): Promise<readonly Settled[]> {
  const { batch, changed } = settling;
  const endedSlots = new Set<Settlement>();
  const slots = [...changed].flatMap((item) => (item.slot === undefined ? [] : [{ item, slot: item.slot }]));
  for (const { item, slot } of slots.toSorted((a, b) => Buffer.compare(a.slot.ref.keySha256, b.slot.ref.keySha256)))
    if (await endSlot(tx, seal, slot)) endedSlots.add(item);
  // A late settlement: the sweep has settled the outcome as unknown, so the key's is unknown too. A completed slot stays as it is.
  await burnSlots(
    tx,
    batch.flatMap((item) => (changed.has(item) || item.slot === undefined ? [] : [item.slot.ref])),
  );
  return batch.map((item) => ({ changed: changed.has(item), slotEnded: endedSlots.has(item) }));
}

export interface Move {
  readonly attempt: OpenAttempt;
  readonly nanoUsd: bigint;
  readonly audioMs: bigint;
  readonly tokens: bigint;
}

/** Releases the reservation and adds what was used as spent, in the windows where it was reserved. */
export function movesOf({ attempt, nanoUsd, audioMs, tokens }: Move): readonly WindowChange[] {
  return readWindowKeys(attempt.windows).map((key) => ({
    ...key,
    spentNanoUsd: nanoUsd,
    spentAudioMs: audioMs,
    reservedNanoUsd: -attempt.reserved_nano_usd,
    reservedAudioMs: -attempt.audio_ms,
    spentTokens: tokens,
    reservedTokens: -attempt.reserved_tokens,
  }));
}

/** Budgets count what was delivered, or ran for a caller who disconnected. Failed attempts are at the operator's expense. */
function spentBy(item: Settlement, attempt: OpenAttempt): Omit<Move, "attempt"> {
  const isBilled = item.outcome === "succeeded" || item.outcome === "aborted";
  return {
    nanoUsd: item.chargeNanoUsd,
    audioMs: isBilled ? BigInt(item.audioMs ?? attempt.audio_ms) : 0n,
    tokens: isBilled ? spentTokens(item.usage, attempt.reserved_tokens) : 0n,
  };
}

/** At most the reserved tokens, so that a provider that reports more than its own limit exceeds no budget. */
export function spentTokens(usage: TokenUsage | undefined, reserved: bigint): bigint {
  if (usage === undefined) return 0n;
  const used = BigInt(usage.inputTokens + usage.outputTokens);
  return used < reserved ? used : reserved;
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

/** Returns the attempts that were open, as they were reserved. */
async function writeOutcomes(
  tx: Transacting,
  items: readonly Settlement[],
  apps: readonly AppOf[],
): Promise<{ readonly open: ReadonlyMap<string, OpenAttempt>; readonly held: HeldWindows | null }> {
  if (items.length === 0) return { open: new Map(), held: apps.length === 0 ? NONE : await holdBudgets(tx, apps) };
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
  const { rows } = await sql<SettledRow & HeldRow>`${PREPARED}
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
      ${holding(apps, movedBudgets)}
    select settled.*, ${HELD} from ${COUNTED} left join (settled full join held on false) on true
      order by held.id`.execute(tx);
  const open = rows.flatMap((row) => (row.attempt_id === null ? [] : [openAttemptOf(row)]));
  return { open: new Map(open.map((attempt) => [attempt.id, attempt])), held: allHeld(rows) };
}

async function endSlot(tx: Transacting, seal: Seal, slot: SlotEnd): Promise<boolean> {
  if (slot.kind === "complete") return completeSlot(tx, seal, slot.ref, slot.reply);
  const held = await dispatchSlots(tx, [slot.ref]);
  if (slot.kind === "burn") await burnSlots(tx, [slot.ref]);
  else await releaseSlots(tx, [slot.ref]);
  return held.size > 0;
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
