// A stored key with its workspace and app, by the hash of its secret (contract 2).
import { sql } from "kysely";
import type { KeyInfo, Principal } from "../auth/principal.ts";
import { brand } from "../contract/ids.ts";
import { SCOPES, type Scope } from "../contract/scopes.ts";
import type { Database } from "../storage/database.ts";
import { lookUps } from "../storage/system.ts";
import { settingsOf } from "./stored.ts";

/** null: unknown, revoked, or expired by the database's clock. */
export async function findKey(database: Database, secretHash: Buffer, testMode: boolean): Promise<Principal | null> {
  const row = await lookUps(database)
    .db.selectFrom("api_keys as key")
    .innerJoin("workspaces as workspace", "workspace.id", "key.workspace_id")
    .leftJoin("apps as app", "app.id", "key.app_id")
    .select([
      "key.id",
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
    .where("key.secret_hash", "=", secretHash)
    .where("key.revoked_at", "is", null)
    .where((where) =>
      where.or([where("key.expires_at", "is", null), where("key.expires_at", ">", sql<Date>`patchbay_now()`)]),
    )
    .executeTakeFirst();
  if (row === undefined) return null;
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
    testMode,
  };
}
