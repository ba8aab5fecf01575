// Settles a batch of attempts (ledger-batch.ts): writes outcome and charge, moves the reservation to spent in the budgets and ends the idempotency slot
// [metering.settle-atomic]. A second settlement changes nothing [metering.settle-once].
import type { DatabaseTransaction } from "../storage/database.ts";
import { readWindowKeys, type WindowChange } from "./store/budget-windows.ts";
import type { AppOf } from "./store/budgets.ts";
import { type OpenAttempt, type SettledAttempts, settleAttempts } from "./store/attempts.ts";
import { type LockedWindows, lockBudgetWindows } from "./store/lock-budget-windows.ts";
import { burnSlots, completeSlot, dispatchSlots, releaseSlots } from "../storage/idempotency-slots.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { SettlementResult, Settlement, SlotEnd, TokenUsage } from "./ledger-entries.ts";

/** Settlements with written and locked rows, with the changes that follow from them. */
export interface Settling {
  readonly batch: readonly Settlement[];
  /** Settlements that took effect. Of two for the same attempt in one batch, the first wins. */
  readonly changed: ReadonlySet<Settlement>;
  readonly moves: readonly WindowChange[];
}

/** For a batch without settlements and apps. */
const NONE: LockedWindows = { rows: [], windows: [] };

export interface SettledAndHeld {
  readonly settling: Settling;
  /** The budgets of the apps and those that the settlements change. Null as in `lockBudgetWindows`. */
  readonly held: LockedWindows | null;
}

/** Writes the outcomes, which locks the attempts, and then locks the budgets, in one statement and each in id order. */
export async function settleAndHold(
  tx: DatabaseTransaction,
  batch: readonly Settlement[],
  apps: readonly AppOf[],
): Promise<SettledAndHeld> {
  const uniqueItems = [...new Map(batch.toReversed().map((item) => [item.attemptId, item])).values()];
  const { open, held } =
    uniqueItems.length === 0 ? await holdWithoutSettling(tx, apps) : await settleAttempts(tx, uniqueItems, apps);
  const changed = new Set(uniqueItems.filter((item) => open.has(item.attemptId)));
  const moves = [...changed].flatMap((item) => {
    const attempt = open.get(item.attemptId);
    return attempt === undefined ? [] : movesOf({ attempt, ...spentBy(item, attempt) });
  });
  return { settling: { batch, changed, moves }, held };
}

/** The caller has locked the budgets, and has updated their windows or will do so. */
export async function finishSettling(
  tx: DatabaseTransaction,
  seal: Seal,
  settling: Settling,
): Promise<readonly SettlementResult[]> {
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

async function holdWithoutSettling(tx: DatabaseTransaction, apps: readonly AppOf[]): Promise<SettledAttempts> {
  return { open: new Map(), held: apps.length === 0 ? NONE : await lockBudgetWindows(tx, apps) };
}

async function endSlot(tx: DatabaseTransaction, seal: Seal, slot: SlotEnd): Promise<boolean> {
  if (slot.kind === "complete") return completeSlot(tx, seal, slot.ref, slot.reply);
  const held = await dispatchSlots(tx, [slot.ref]);
  if (slot.kind === "burn") await burnSlots(tx, [slot.ref]);
  else await releaseSlots(tx, [slot.ref]);
  return held.size > 0;
}
