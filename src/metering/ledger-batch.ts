// One transaction of the ledger (contract 9): what is reserved and what is settled at the same time goes together, so that each
// budget is held once and each of its windows changed once. Locks are taken attempts, budgets, slots, each in id order.
import { changeWindows, lockBudgetsOf } from "../storage/budget-windows.ts";
import type { Transacting } from "../storage/database.ts";
import type { Seal } from "../storage/seal.ts";
import type { Reservation, Reserved, Settled, Settlement } from "./ledger.ts";
import { insertAttempts, judgeReservations } from "./reserve-batch.ts";
import { beginSettling, finishSettling } from "./settle-batch.ts";

export interface LedgerBatch {
  readonly reservations: readonly Reservation[];
  readonly settlements: readonly Settlement[];
}

/** Both in the order they were given. What is settled makes room for what is reserved. */
export async function runLedgerBatch(
  tx: Transacting,
  { seal, nowMs }: { readonly seal: Seal; readonly nowMs: number },
  { reservations, settlements }: LedgerBatch,
): Promise<{ readonly reserved: readonly Reserved[]; readonly settled: readonly Settled[] }> {
  const settling = await beginSettling(tx, settlements);
  const moved = new Set(settling.moves.map((move) => move.budgetId));
  const apps = new Map(reservations.map((item) => [`${item.appId} ${item.funding}`, item])).values();
  const budgets = reservations.length === 0 && moved.size === 0 ? [] : await lockBudgetsOf(tx, [...apps], [...moved]);
  const reserving = await judgeReservations(tx, reservations, budgets, settling.moves);
  await changeWindows(tx, [...settling.moves, ...reserving.moves]);
  await insertAttempts(tx, reserving.admitted, nowMs);
  return { reserved: reserving.verdicts, settled: await finishSettling(tx, seal, settling) };
}
