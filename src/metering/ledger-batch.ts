// Runs concurrent reservations and settlements as one transaction of the ledger [metering.batch-isolation], so that each budget is locked once and each of
// its windows updated once. Locks are taken on attempts, then budgets, then slots, each in id order.
import { insertAttempts } from "./store/attempts.ts";
import { changeWindows } from "./store/budget-windows.ts";
import { type AppOf, lockBudgetsOf } from "./store/budgets.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import type { LockedWindows } from "./store/lock-budget-windows.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { Reservation, ReservationVerdict, SettlementResult, Settlement } from "./ledger-entries.ts";
import { statesOf, withWindows } from "./read-budgets.ts";
import { type LockedBudgets, judgeReservations } from "./reserve-batch.ts";
import { finishSettling, settleAndHold, type Settling } from "./settle-batch.ts";

export interface LedgerBatch {
  readonly reservations: readonly Reservation[];
  readonly settlements: readonly Settlement[];
}

/** Returns both results in the order of the batch. Settlements run first, because they make room for reservations. */
export async function runLedgerBatch(
  tx: DatabaseTransaction,
  { seal, nowMs }: { readonly seal: Seal; readonly nowMs: number },
  { reservations, settlements }: LedgerBatch,
): Promise<{ readonly reserved: readonly ReservationVerdict[]; readonly settled: readonly SettlementResult[] }> {
  const apps = [...new Map(reservations.map((item) => [`${item.appId} ${item.funding}`, item])).values()];
  const { settling, held: prefetched } = await settleAndHold(tx, settlements, apps);
  const held = prefetched === null ? await readHeld(tx, apps, settling) : withPrefetched(prefetched);
  const reserving = await judgeReservations(tx, reservations, held, settling.moves);
  const moves = [...settling.moves, ...reserving.moves];
  await changeWindows(tx, moves, insertAttempts(reserving.admitted, nowMs));
  return { reserved: reserving.verdicts, settled: await finishSettling(tx, seal, settling) };
}

function withPrefetched({ rows, windows }: LockedWindows): LockedBudgets {
  return { rows, states: statesOf(rows, windows) };
}

/** Some budgets have no window yet: this is the first request of a day or a month. */
async function readHeld(tx: DatabaseTransaction, apps: readonly AppOf[], { moves }: Settling): Promise<LockedBudgets> {
  const movedIds = new Set(moves.map((move) => move.budgetId));
  const rows = await lockBudgetsOf(tx, apps, [...movedIds]);
  return { rows, states: await withWindows(tx, rows) };
}
