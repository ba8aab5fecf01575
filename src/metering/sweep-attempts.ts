// Settles attempts that a crash left open past their deadline [metering.crash-unresolved]. Their outcome is unknown: the app pays nothing, the reservation is
// released, and `unresolved` lets the operator compare them with the provider's bill.
import { sql } from "kysely";
import { changeWindows } from "./store/budget-windows.ts";
import { lockBudgets } from "./store/budgets.ts";
import type { SystemTransaction } from "../storage/database.ts";
import { movesOf, type OpenAttempt } from "./settle-batch.ts";

/** The settlement of a call that has just ended may still be in progress. */
const GRACE_SECONDS = 30;
const MAX_SWEPT = 500;

export async function sweepAttempts(tx: SystemTransaction): Promise<number> {
  const { rows } = await sql<OpenAttempt>`
    select id, audio_ms, reserved_nano_usd, reserved_tokens, windows from attempts
    where state = 'open' and deadline_at <= patchbay_now() - ${sql.lit(GRACE_SECONDS)} * interval '1 second'
    order by id limit ${sql.lit(MAX_SWEPT)} for update skip locked`.execute(tx);
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  const moves = rows.flatMap((attempt) => movesOf({ attempt, nanoUsd: 0n, audioMs: 0n, tokens: 0n }));
  await lockBudgets(tx, [...new Set(moves.map((move) => move.budgetId))]);
  await changeWindows(tx, moves);
  await sql`update attempts set state = 'settled', settled_at = patchbay_now(), outcome = 'unknown', unresolved = true,
      billable_audio_ms = 0, charge_nano_usd = 0
    where id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)) and state = 'open'`.execute(tx);
  return ids.length;
}
