// Stores the credits that the operator grants to workspaces, each grant at most once per idempotency key [budgets.credits-grant].
import { type Insertable, type Selectable, sql } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type Grants = Tables["credit_grants"];

export async function insertGrant(tx: DatabaseTransaction, grant: Insertable<Grants>): Promise<void> {
  await tx.insertInto("credit_grants").values(grant).execute();
}

/** Undefined: no grant was made under this key. */
export async function readGrant(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  keySha256: Buffer,
): Promise<Pick<Selectable<Grants>, "nano_usd" | "note"> | undefined> {
  return tx
    .selectFrom("credit_grants")
    .select(["nano_usd", "note"])
    .where("workspace_id", "=", workspaceId)
    .where("key_sha256", "=", keySha256)
    .executeTakeFirst();
}

/** The sum of the operator's credit grants in addition to the plan. Negative if more was taken back. */
export async function readGranted(tx: DatabaseTransaction, workspaceId: WorkspaceId): Promise<bigint> {
  const { granted } = await tx
    .selectFrom("credit_grants")
    .select(sql<string>`coalesce(sum(nano_usd), 0)::text`.as("granted"))
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return BigInt(granted);
}
