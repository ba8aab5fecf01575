// Settles a batch of leased attempts in one statement, which is one round trip instead of seven. A chat that runs at the same time waits for the main thread,
// so each round trip less shortens what others wait for (docs/decisions/0062-what-a-chat-waits-for.md).
import { sql } from "kysely";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { SystemHandle } from "../../storage/database.ts";
import { type LeaseChange, leaseChangesJson } from "./budget-leases.ts";
import { insertLeased, type LeasedAttempt } from "./leased-attempts.ts";

/**
 * Writes the attempts, and moves the sums from reserved to spent in their leases and budgets. False: nothing was written, because a window of a lease is
 * missing. Then a budget was deleted, and it may have been recreated after this statement's snapshot [metering.budget-recreated].
 */
export async function settleInOneStatement(
  db: SystemHandle,
  batch: readonly LeasedAttempt[],
  { sums, nowMs }: { readonly sums: readonly LeaseChange[]; readonly nowMs: number },
): Promise<boolean> {
  // All locks are taken for `complete`, on leases before budgets, each in id order, and everything is written after it. For the `any`, see `waysTo` in budgets.ts.
  const { rows } = await sql<{ is_complete: boolean }>`${PREPARED} with
    sums as materialized (select * from jsonb_to_recordset(${leaseChangesJson(sums)}::jsonb) as sums (id text, nano_usd bigint, tokens bigint)),
    leases as materialized (select id, windows from budget_leases
      where state = 'open' and id = any(array(select id from sums)) order by id for update),
    moves as materialized (select held.budget_id, held.window_start, sum(sums.nano_usd)::bigint as nano_usd, sum(sums.tokens)::bigint as tokens
      from leases join sums using (id), jsonb_to_recordset(leases.windows) as held (budget_id text, window_start timestamptz) group by 1, 2),
    held as materialized (select b.id from budgets b join budget_windows w on w.budget_id = b.id
      join moves on moves.budget_id = w.budget_id and moves.window_start = w.window_start
      where b.id = any(array(select budget_id from moves)) and w.budget_id = any(array(select budget_id from moves)) order by b.id for update of b),
    complete as materialized (select (select count(*) from held) = (select count(*) from moves) as is_complete),
    stored as (${insertLeased(batch, nowMs)} where (select is_complete from complete)),
    moved as (update budget_windows w
      set spent_nano_usd = w.spent_nano_usd + moves.nano_usd, reserved_nano_usd = w.reserved_nano_usd - moves.nano_usd,
        spent_tokens = w.spent_tokens + moves.tokens, reserved_tokens = w.reserved_tokens - moves.tokens
      from moves where w.budget_id = moves.budget_id and w.window_start = moves.window_start
        and w.budget_id = any(array(select budget_id from moves)) and (select is_complete from complete)),
    settled as (update budget_leases l
      set settled_nano_usd = l.settled_nano_usd + sums.nano_usd, settled_tokens = l.settled_tokens + sums.tokens
      from sums where l.id = sums.id and l.id = any(array(select id from leases)) and (select is_complete from complete))
    select is_complete from complete`.execute(db);
  return rows[0]?.is_complete === true;
}
