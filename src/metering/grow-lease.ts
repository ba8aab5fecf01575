// Requests a slice of an app's budgets for a lease, or more of it, and returns what a lease did not spend [metering.lease-accounting].
import { type LeaseId, newId } from "../contract/ids.ts";
import {
  addGranted,
  closeLeases,
  insertLease,
  type LeaseChange,
  type LeaseOwner,
  type LeaseRow,
  lockLeases,
} from "../storage/budget-leases.ts";
import { changeWindows, readWindowKeys, windowId, type WindowKey } from "../storage/budget-windows.ts";
import { lockBudgets, lockBudgetsOf } from "../storage/budgets.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { batches } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { type BudgetExceeded, type BudgetState, headroomOf, judgeBudget } from "./budget.ts";
import { withWindows } from "./read-budgets.ts";

export interface Slice {
  readonly nanoUsd: bigint;
  readonly tokens: bigint;
}

export interface GrowLease {
  readonly owner: LeaseOwner;
  readonly holder: string;
  /** The one held now, with what is left of it. */
  readonly lease: (Slice & { readonly id: LeaseId }) | null;
  /** What the next call must find in it. */
  readonly need: Slice;
  /** How many further calls like this one it is to be for, where the budgets have room. */
  readonly calls: bigint;
}

export type Grown =
  | (Slice & {
      readonly ok: true;
      /** Another id than before: the windows have changed, and the old lease is to be spent no more. */
      readonly id: LeaseId;
      /** Until the first window ends; there may be none that does. */
      readonly usableMs: number;
    })
  /** `isOver`: the windows have changed, and the lease held now is to be spent no more. */
  | { readonly ok: false; readonly exceeded: BudgetExceeded; readonly isOver: boolean };

/** Of what is left in a budget at most this part is held in advance, so that other processes find some too. */
const SHARE = 8n;

export function growLease(database: Database, request: GrowLease): Promise<Grown> {
  return transact(batches(database), async (tx) => {
    const held = request.lease === null ? undefined : (await lockLeases(tx, [request.lease.id])).get(request.lease.id);
    const budgets = await withWindows(tx, await lockBudgetsOf(tx, [request.owner]));
    const windows = budgets.map(({ id, windowStart }) => ({ budgetId: id, windowStart }));
    const windowsKey = keyOf(windows);
    const isSame = held !== undefined && keyOf(readWindowKeys(held.windows)) === windowsKey;
    const left = isSame && request.lease !== null ? request.lease : { nanoUsd: 0n, tokens: 0n };
    const exceeded = budgets
      .map((budget) => judgeBudget(withoutHeld(budget, left), { ...request.need, audioMs: 0n }))
      .find((verdict) => verdict !== null);
    if (exceeded !== undefined) return { ok: false, exceeded, isOver: !isSame };

    const slice = sliceOf(budgets, request, left);
    const id = isSame && request.lease !== null ? request.lease.id : newId("lease");
    if (!isSame) await insertLease(tx, { ...request.owner, id, holder: request.holder, windows });
    await addGranted(tx, { id, ...slice });
    await changeWindows(
      tx,
      windows.map((key) => move(key, { reserved: slice, spent: NOTHING })),
    );
    return { ok: true, id, usableMs: usableMs(budgets), ...slice };
  });
}

/** Gives back parts that nobody spends any more; the leases stay open for the calls that they pay for. */
export async function shrinkLeases(database: Database, rests: readonly LeaseChange[]): Promise<void> {
  const ids = rests.map(({ id }) => id);
  await transact(batches(database), async (tx) => {
    const leases = await lockLeases(tx, ids);
    const back = rests
      .filter(({ id }) => leases.has(id))
      .map(({ id, nanoUsd, tokens }) => ({ id, nanoUsd: -nanoUsd, tokens: -tokens }));
    const changes = back.flatMap((reserved) =>
      readWindowKeys(leases.get(reserved.id)?.windows ?? []).map((key) => move(key, { reserved, spent: NOTHING })),
    );
    await lockBudgets(tx, [...new Set(changes.map((change) => change.budgetId))]);
    for (const change of back) await addGranted(tx, change);
    await changeWindows(tx, changes);
  });
}

/** Gives back what is left of leases whose every call is settled. */
export async function closeHeld(database: Database, ids: readonly LeaseId[]): Promise<void> {
  await transact(batches(database), async (tx) => {
    const leases = [...(await lockLeases(tx, ids)).values()];
    await releaseRemainder(tx, leases, "unspent");
    await closeLeases(
      tx,
      leases.map((lease) => lease.id),
      false,
    );
  });
}

/** The rows are held. `spent`: nobody knows what became of it, and it counts as used up. */
export async function releaseRemainder(
  tx: Transacting,
  leases: readonly LeaseRow[],
  as: "spent" | "unspent",
): Promise<void> {
  const changes = leases.flatMap((lease) => {
    const rest = {
      nanoUsd: lease.granted_nano_usd - lease.settled_nano_usd,
      tokens: lease.granted_tokens - lease.settled_tokens,
    };
    const reserved = { nanoUsd: -rest.nanoUsd, tokens: -rest.tokens };
    return readWindowKeys(lease.windows).map((key) => move(key, { reserved, spent: as === "spent" ? rest : NOTHING }));
  });
  await lockBudgets(tx, [...new Set(changes.map((change) => change.budgetId))]);
  await changeWindows(tx, changes);
}

export const NOTHING: Slice = { nanoUsd: 0n, tokens: 0n };

export function move(key: WindowKey, { reserved, spent }: { readonly reserved: Slice; readonly spent: Slice }) {
  return {
    ...key,
    spentNanoUsd: spent.nanoUsd,
    reservedNanoUsd: reserved.nanoUsd,
    spentTokens: spent.tokens,
    reservedTokens: reserved.tokens,
    spentAudioMs: 0n,
    reservedAudioMs: 0n,
  };
}

/** What is missing now, and in advance as much as the slice is for and the tightest budget can spare. */
function sliceOf(
  budgets: readonly BudgetState[],
  { need, calls }: Pick<GrowLease, "need" | "calls">,
  left: Slice,
): Slice {
  const rooms = budgets.map(headroomOf);
  const amountOf = (unit: keyof Slice): bigint => {
    const missing = need[unit] > left[unit] ? need[unit] - left[unit] : 0n;
    const spare = rooms.flatMap(({ [unit]: room }) => (room === null ? [] : [(room - missing) / SHARE]));
    const inAdvance = spare.reduce((least, each) => (each < least ? each : least), need[unit] * calls);
    return missing + (inAdvance > 0n ? inAdvance : 0n);
  };
  return { nanoUsd: amountOf("nanoUsd"), tokens: amountOf("tokens") };
}

/** What this lease holds already counts as reserved there; to it, it is available. */
function withoutHeld(budget: BudgetState, held: Slice): BudgetState {
  return {
    ...budget,
    reservedNanoUsd: budget.reservedNanoUsd - held.nanoUsd,
    reservedTokens: budget.reservedTokens - held.tokens,
  };
}

function usableMs(budgets: readonly BudgetState[]): number {
  return Math.min(
    ...budgets.map(({ resetsAt, readAt }) => (resetsAt === null ? Infinity : resetsAt.getTime() - readAt.getTime())),
  );
}

function keyOf(windows: readonly WindowKey[]): string {
  return windows.map(windowId).join("\n");
}
