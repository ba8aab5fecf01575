// Stores provider accounts. Callers seal and open the credential.
import { type Kysely, sql } from "kysely";
import type { SystemHandle, DatabaseTransaction } from "../../storage/database.ts";
import { FILE_MANAGERS, type ManagedBy } from "./routes.ts";
import type { ConnectionRow, Tables } from "../../storage/schema/tables.ts";

/** `scope` is `platform` or a workspace id. */
export interface ConnectionName {
  readonly scope: string;
  readonly id: string;
}

type Reading = Pick<Kysely<Tables>, "selectFrom">;

export async function readConnection(db: Reading, { scope, id }: ConnectionName): Promise<ConnectionRow | null> {
  const row = await db
    .selectFrom("connections")
    .selectAll()
    .where("scope", "=", scope)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Connections in id order, after the id `after`. */
export async function listConnections(
  db: Reading,
  scope: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly ConnectionRow[]> {
  const rows = db.selectFrom("connections").selectAll().where("scope", "=", scope).orderBy("id").limit(limit);
  return (after === null ? rows : rows.where("id", ">", after)).execute();
}

/** Connections of all scopes. */
export async function listAllConnections(db: SystemHandle): Promise<readonly ConnectionRow[]> {
  return db.selectFrom("connections").selectAll().execute();
}

/** Connections that the file manages, or a start without one. */
export async function listFileConnections(
  tx: DatabaseTransaction,
): Promise<readonly Pick<ConnectionRow, "scope" | "id" | "managed_by">[]> {
  return tx
    .selectFrom("connections")
    .select(["scope", "id", "managed_by"])
    .where("managed_by", "in", FILE_MANAGERS)
    .execute();
}

export interface ConnectionFacts {
  readonly kind: string;
  readonly base_url: string | null;
  readonly credential: Buffer | null;
  readonly credential_last4: string | null;
  /** JSON. */
  readonly settings: string;
  readonly managed_by: ManagedBy;
}

export async function putConnection(
  tx: DatabaseTransaction,
  { scope, id }: ConnectionName,
  facts: ConnectionFacts,
): Promise<void> {
  await tx
    .insertInto("connections")
    .values({ scope, id, ...facts })
    .onConflict((conflict) =>
      conflict.columns(["scope", "id"]).doUpdateSet({ ...facts, updated_at: sql`patchbay_now()` }),
    )
    .execute();
}

export async function setConnectionManager(
  tx: DatabaseTransaction,
  { scope, id }: ConnectionName,
  managedBy: ManagedBy,
): Promise<void> {
  await tx
    .updateTable("connections")
    .set({ managed_by: managedBy })
    .where("scope", "=", scope)
    .where("id", "=", id)
    .execute();
}

export async function deleteConnection(tx: DatabaseTransaction, { scope, id }: ConnectionName): Promise<void> {
  await tx.deleteFrom("connections").where("scope", "=", scope).where("id", "=", id).execute();
}
