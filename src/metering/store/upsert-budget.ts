// Creates or updates a budget, set through the API, by a plan or by the configuration file. If a deleted budget is recreated before calls that had reserved
// in it are settled, it counts their reservations from its start, because their settlement will release them [metering.budget-recreated].
import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type Budgets = Tables["budgets"];

export async function upsertBudget(
  tx: DatabaseTransaction,
  budget: Insertable<Budgets>,
  changes: Updateable<Budgets>,
): Promise<Selectable<Budgets>> {
  const { is_new: isNew, ...row } = await tx
    .insertInto("budgets")
    .values(budget)
    .onConflict((conflict) => conflict.column("id").doUpdateSet(changes))
    .returningAll()
    .returning(sql<boolean>`xmax = 0`.as("is_new"))
    .executeTakeFirstOrThrow();
  // Only for a new budget. For an existing one this could deadlock: a settlement locks its attempt's row, then waits for the budget's.
  if (isNew) await countReserved(tx, row);
  return row;
}

async function countReserved(
  tx: DatabaseTransaction,
  { id, workspace_id: workspaceId }: Pick<Selectable<Budgets>, "id" | "workspace_id">,
): Promise<void> {
  const isOpen = sql`state = 'open' and workspace_id = ${workspaceId} and windows @> ${JSON.stringify([{ budget_id: id }])}::jsonb`;
  // An attempt that is being settled now did not see the budget and releases nothing in it, so wait for it.
  await sql`select from attempts where ${isOpen} order by id for update`.execute(tx);
  await sql`select from budget_leases where ${isOpen} order by id for update`.execute(tx);
  await sql`insert into budget_windows (budget_id, window_start, reserved_nano_usd, reserved_audio_ms, reserved_tokens)
    select ${id}, (held ->> 'window_start')::timestamptz, sum(nano_usd), sum(audio_ms), sum(tokens) from (
      select windows, reserved_nano_usd as nano_usd, audio_ms, reserved_tokens as tokens from attempts where ${isOpen}
      union all
      select windows, granted_nano_usd - settled_nano_usd, 0, granted_tokens - settled_tokens from budget_leases where ${isOpen}
    ) as open, jsonb_array_elements(open.windows) as held where held ->> 'budget_id' = ${id} group by 2`.execute(tx);
}
