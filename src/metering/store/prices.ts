// Stores the operator's prices, which replace built-in ones.
import type { Kysely, Selectable } from "kysely";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type PriceName = Pick<PriceRow, "provider" | "model">;
export type PriceRow = Selectable<Tables["prices"]>;

export async function listPrices(db: Kysely<Tables>): Promise<readonly PriceRow[]> {
  return db.selectFrom("prices").selectAll().execute();
}

/** `definition` is JSON. */
export async function upsertPrice(
  tx: DatabaseTransaction,
  { provider, model }: PriceName,
  definition: string,
): Promise<void> {
  await tx
    .insertInto("prices")
    .values({ provider, model, definition })
    .onConflict((conflict) => conflict.columns(["provider", "model"]).doUpdateSet({ definition }))
    .execute();
}

export async function deletePrice(tx: DatabaseTransaction, { provider, model }: PriceName): Promise<void> {
  await tx.deleteFrom("prices").where("provider", "=", provider).where("model", "=", model).execute();
}
