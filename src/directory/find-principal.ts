// Finds the caller of a dry run [admin.explain]: a stored key by its id, or an app, as if by a key without settings of its own.
import type { Principal } from "../auth/principal.ts";
import { brand } from "../contract/ids.ts";
import type { Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { findKey } from "./find-key.ts";
import { readKeyHash } from "./store/keys.ts";
import { readAppByName } from "./store/workspaces.ts";
import { settingsOf } from "./stored-schemas.ts";

/** Null: the key is unknown, revoked or expired. */
export async function findKeyById(database: Database, id: string): Promise<Principal | null> {
  const secretHash = await readKeyHash(bypassRls(database, "lookup").db, id);
  return secretHash === undefined ? null : findKey(database, secretHash, false);
}

/** Finds an app by its id, or by both slugs as `workspace/app`. */
export async function findAppPrincipal(database: Database, name: string): Promise<Principal | null> {
  const row = await readAppByName(bypassRls(database, "lookup").db, name);
  if (row === undefined) return null;
  return {
    key: {
      id: brand("key", ""),
      prefix: "",
      last4: "",
      name: "",
      role: "member",
      createdAt: new Date(0),
      expiresAt: null,
      // Empty settings inherit everything from the app.
      ...settingsOf({}),
    },
    workspace: { id: brand("workspace", row.workspace_id), slug: row.slug, plan: row.plan },
    app: { id: brand("app", row.id), name: row.name, ...settingsOf(row.settings) },
    scopes: [],
    testMode: false,
  };
}
