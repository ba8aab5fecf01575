// Reads the rows that wait for a message of the queue, after they were copied into another database.
import { type Selectable, sql } from "kysely";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

/** Queued jobs in order of their ids. */
export async function listQueuedJobs(
  tx: DatabaseTransaction,
): Promise<readonly Pick<Selectable<Tables["jobs"]>, "id" | "app_id">[]> {
  return tx.selectFrom("jobs").select(["id", "app_id"]).where("status", "=", "queued").orderBy("id").execute();
}

type Deliveries = Selectable<Tables["webhook_deliveries"]>;

export async function listPendingDeliveries(
  tx: DatabaseTransaction,
): Promise<readonly (Pick<Deliveries, "id" | "workspace_id" | "turn"> & { readonly delaySeconds: number })[]> {
  return tx
    .selectFrom("webhook_deliveries")
    .select(["id", "workspace_id", "turn"])
    .select(sql<number>`greatest(0, extract(epoch from next_attempt_at - patchbay_now()))::float8`.as("delaySeconds"))
    .where("state", "=", "pending")
    .execute();
}
