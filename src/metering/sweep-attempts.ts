// Settles attempts that a crash left open past their deadline [metering.crash-unresolved]. Their outcome is unknown: the app pays nothing, the reservation is
// released, and `unresolved` lets the operator compare them with the provider's bill.
import { lockOverdueAttempts, settleAsUnknown } from "./store/attempts.ts";
import { changeWindows } from "./store/budget-windows.ts";
import { lockBudgets } from "./store/budgets.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { movesOf } from "./settle-batch.ts";

/** The settlement of a call that has just ended may still be in progress. */
const GRACE_SECONDS = 30;
const MAX_SWEPT = 500;

export async function sweepAttempts(tx: DatabaseTransaction): Promise<number> {
  const attempts = await lockOverdueAttempts(tx, GRACE_SECONDS, MAX_SWEPT);
  if (attempts.length === 0) return 0;
  const moves = attempts.flatMap((attempt) => movesOf({ attempt, nanoUsd: 0n, audioMs: 0n, tokens: 0n }));
  await lockBudgets(tx, [...new Set(moves.map((move) => move.budgetId))]);
  await changeWindows(tx, moves);
  await settleAsUnknown(
    tx,
    attempts.map(({ id }) => id),
  );
  return attempts.length;
}
