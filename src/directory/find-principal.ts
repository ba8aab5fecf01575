// Finds the caller of a dry run [admin.explain]: a stored key by its id, or an app, as if by a key without settings of its own.
import type { Principal } from "../auth/principal.ts";
import { brand } from "../contract/ids.ts";
import type { Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { findKey } from "./find-key.ts";
import { settingsOf } from "./stored-schemas.ts";

/** Null: the key is unknown, revoked or expired. */
export async function findKeyById(database: Database, id: string): Promise<Principal | null> {
  const row = await bypassRls(database, "lookup")
    .db.selectFrom("api_keys")
    .select("secret_hash")
    .where("id", "=", id)
    .executeTakeFirst();
  return row === undefined ? null : findKey(database, row.secret_hash, false);
}

/** Finds an app by its id, or by both slugs as `workspace/app`. */
export async function findAppPrincipal(database: Database, name: string): Promise<Principal | null> {
  const [workspace = "", slug = ""] = name.split("/");
  const row = await bypassRls(database, "lookup")
    .db.selectFrom("apps as app")
    .innerJoin("workspaces as workspace", "workspace.id", "app.workspace_id")
    .select(["app.id", "app.name", "app.settings", "workspace.id as workspace_id", "workspace.slug", "workspace.plan"])
    .where((where) =>
      where.or([
        where("app.id", "=", name),
        where.and([where("workspace.slug", "=", workspace), where("app.slug", "=", slug)]),
      ]),
    )
    .executeTakeFirst();
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
