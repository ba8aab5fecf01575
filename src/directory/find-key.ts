// Finds stored keys, with their workspace and app, by the hashes of their secrets.
import type { KeyInfo, Principal, StoredKey } from "../auth/principal.ts";
import { brand } from "../contract/ids.ts";
import { SCOPES, type Scope } from "../contract/scopes.ts";
import type { Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { type KeyWithOwner, listKeysByHash } from "./store/keys.ts";
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
  const rows = await listKeysByHash(bypassRls(database, "lookup").db, secretHashes);
  return new Map(rows.map((row) => [Buffer.from(row.secret_hash).toString("base64"), storedKey(row)]));
}

function storedKey(row: KeyWithOwner): StoredKey {
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
