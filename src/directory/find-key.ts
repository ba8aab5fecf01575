// Finds stored keys, with their workspace and app, by the hashes of their secrets.
import { sql } from "kysely";
import type { KeyInfo, Principal, StoredKey } from "../auth/principal.ts";
import { brand } from "../contract/ids.ts";
import { SCOPES, type Scope } from "../contract/scopes.ts";
import type { Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { settingsOf } from "./stored-schemas.ts";

/** Null: the key is unknown, revoked, or expired by the database's clock. */
export async function findKey(database: Database, secretHash: Buffer, testMode: boolean): Promise<Principal | null> {
  const [found] = (await findKeys(database, [secretHash])).values();
  return found === undefined ? null : { ...found, testMode };
}

/** Returns the keys that are valid by the database's clock, by hash in base64. */
export async function findKeys(
  database: Database,
  secretHashes: readonly Buffer[],
): Promise<ReadonlyMap<string, StoredKey>> {
  const rows = await selectKeys(database, secretHashes);
  return new Map(rows.map((row) => [Buffer.from(row.secret_hash).toString("base64"), storedKey(row)]));
}

type KeyRow = Awaited<ReturnType<typeof selectKeys>>[number];

function selectKeys(database: Database, secretHashes: readonly Buffer[]) {
  return bypassRls(database, "lookup")
    .db.selectFrom("api_keys as key")
    .innerJoin("workspaces as workspace", "workspace.id", "key.workspace_id")
    .leftJoin("apps as app", "app.id", "key.app_id")
    .select([
      "key.id",
      "key.secret_hash",
      "key.prefix",
      "key.last4",
      "key.name",
      "key.role",
      "key.scopes",
      "key.created_at",
      "key.expires_at",
      "key.settings",
      "workspace.id as workspace_id",
      "workspace.slug as workspace_slug",
      "workspace.plan as workspace_plan",
      "app.id as app_id",
      "app.name as app_name",
      "app.settings as app_settings",
    ])
    .where((where) =>
      // A single hash is compared with `=`, so that the usual look-up keeps its cheap plan.
      secretHashes.length === 1
        ? where("key.secret_hash", "=", secretHashes[0] ?? Buffer.alloc(0))
        : sql<boolean>`key.secret_hash = any(${secretHashes}::bytea[])`,
    )
    .where("key.revoked_at", "is", null)
    .where((where) =>
      where.or([where("key.expires_at", "is", null), where("key.expires_at", ">", sql<Date>`patchbay_now()`)]),
    )
    .execute();
}

function storedKey(row: KeyRow): StoredKey {
  const key: KeyInfo = {
    id: brand("key", row.id),
    prefix: row.prefix,
    last4: row.last4,
    name: row.name,
    role: row.role,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...settingsOf(row.settings),
  };
  const app =
    row.app_id === null
      ? null
      : {
          id: brand("app", row.app_id),
          name: row.app_name ?? row.app_id,
          ...settingsOf(row.app_settings),
        };
  return {
    key,
    workspace: { id: brand("workspace", row.workspace_id), slug: row.workspace_slug, plan: row.workspace_plan },
    app,
    scopes: row.scopes.filter((scope): scope is Scope => SCOPES.some((known) => known === scope)),
  };
}
