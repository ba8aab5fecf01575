// Grows a lease by a slice of its app's budgets, and returns what a lease did not spend [metering.lease-accounting].
import { type LeaseId, newId } from "../contract/ids.ts";
import {
  addGranted,
  closeLeases,
  insertLease,
  type LeaseChange,
  type LeaseOwner,
  type LeaseRow,
  lockLeases,
} from "./store/budget-leases.ts";
import { changeWindows, readWindowKeys, windowId, type WindowKey } from "./store/budget-windows.ts";
import { lockBudgets, lockBudgetsOf } from "./store/budgets.ts";
import type { Database, DatabaseTransaction } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
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
  /** The current lease, with what is left of it. Null: none. */
  readonly lease: (Slice & { readonly id: LeaseId }) | null;
  /** What the next call needs from it. */
  readonly need: Slice;
  /** How many further calls of this size the slice is for, if the budgets have room. */
  readonly calls: bigint;
}

export type Grown =
  | (Slice & {
      readonly ok: true;
      /** A new id means that the windows have changed, and the old lease may no longer be spent. */
      readonly id: LeaseId;
      /** Time until the first window ends. Infinite: no window ends. */
      readonly usableMs: number;
    })
  /** `isOver`: the windows have changed, and the current lease may no longer be spent. */
  | { readonly ok: false; readonly exceeded: BudgetExceeded; readonly isOver: boolean };

/** A lease takes in advance at most this fraction of what is left in a budget, so that other processes find some too. */
const SHARE = 8n;

export function growLease(database: Database, request: GrowLease): Promise<Grown> {
  return transact(bypassRls(database, "batch"), async (tx) => {
    const row = request.lease === null ? undefined : (await lockLeases(tx, [request.lease.id])).get(request.lease.id);
    const budgets = await withWindows(tx, await lockBudgetsOf(tx, [request.owner]));
    const windows = budgets.map(({ id, windowStart }) => ({ budgetId: id, windowStart }));
    const windowsKey = keyOf(windows);
    const isSame = row !== undefined && keyOf(readWindowKeys(row.windows)) === windowsKey;
    const remaining = isSame && request.lease !== null ? request.lease : { nanoUsd: 0n, tokens: 0n };
    const exceeded = budgets
      .map((budget) => judgeBudget(withoutLease(budget, remaining), { ...request.need, audioMs: 0n }))
      .find((verdict) => verdict !== null);
    if (exceeded !== undefined) return { ok: false, exceeded, isOver: !isSame };

    const slice = sliceOf(budgets, request, remaining);
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

/** Returns unspent parts to the budgets. The leases stay open for the calls in flight that they pay for. */
export async function shrinkLeases(database: Database, remainders: readonly LeaseChange[]): Promise<void> {
  const ids = remainders.map(({ id }) => id);
  await transact(bypassRls(database, "batch"), async (tx) => {
    const leases = await lockLeases(tx, ids);
    const returned = remainders
      .filter(({ id }) => leases.has(id))
      .map(({ id, nanoUsd, tokens }) => ({ id, nanoUsd: -nanoUsd, tokens: -tokens }));
    const changes = returned.flatMap((reserved) =>
      readWindowKeys(leases.get(reserved.id)?.windows ?? []).map((key) => move(key, { reserved, spent: NOTHING })),
    );
    await lockBudgets(tx, [...new Set(changes.map((change) => change.budgetId))]);
    for (const change of returned) await addGranted(tx, change);
    await changeWindows(tx, changes);
  });
}

/** Closes leases after all their calls are settled, and returns their remainder to the budgets. */
export async function closeHeld(database: Database, ids: readonly LeaseId[]): Promise<void> {
  await transact(bypassRls(database, "batch"), async (tx) => {
    const leases = [...(await lockLeases(tx, ids)).values()];
    await releaseRemainder(tx, leases, "unspent");
    await closeLeases(
      tx,
      leases.map((lease) => lease.id),
      false,
    );
  });
}

/** Releases the remainder of leases. The caller has locked the rows. `spent`: its use is unknown, so it counts as spent. */
export async function releaseRemainder(
  tx: DatabaseTransaction,
  leases: readonly LeaseRow[],
  as: "spent" | "unspent",
): Promise<void> {
  const changes = leases.flatMap((lease) => {
    const remainder = {
      nanoUsd: lease.granted_nano_usd - lease.settled_nano_usd,
      tokens: lease.granted_tokens - lease.settled_tokens,
    };
    const reserved = { nanoUsd: -remainder.nanoUsd, tokens: -remainder.tokens };
    return readWindowKeys(lease.windows).map((key) =>
      move(key, { reserved, spent: as === "spent" ? remainder : NOTHING }),
    );
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

/** The missing amount, plus in advance as much as the slice is for and the tightest budget can spare. */
function sliceOf(
  budgets: readonly BudgetState[],
  { need, calls }: Pick<GrowLease, "need" | "calls">,
  remaining: Slice,
): Slice {
  const headrooms = budgets.map(headroomOf);
  const amountOf = (unit: keyof Slice): bigint => {
    const missing = need[unit] > remaining[unit] ? need[unit] - remaining[unit] : 0n;
    const spare = headrooms.flatMap(({ [unit]: room }) => (room === null ? [] : [(room - missing) / SHARE]));
    const advance = spare.reduce((least, each) => (each < least ? each : least), need[unit] * calls);
    return missing + (advance > 0n ? advance : 0n);
  };
  return { nanoUsd: amountOf("nanoUsd"), tokens: amountOf("tokens") };
}

/** The lease's own holdings count as reserved in the budget, but are available to the lease. */
function withoutLease(budget: BudgetState, holdings: Slice): BudgetState {
  return {
    ...budget,
    reservedNanoUsd: budget.reservedNanoUsd - holdings.nanoUsd,
    reservedTokens: budget.reservedTokens - holdings.tokens,
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
