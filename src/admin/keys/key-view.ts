// Describes an API key for the API and the audit log [keys.shown-once]: never its hash, and its secret only in the response that created it.
import type { KeyView } from "../../contract/admin/keys.ts";
import { SCOPES, type Scope } from "../../contract/scopes.ts";
import { shownSettings } from "../app-settings.ts";
import { shownManager } from "../refuse-managed.ts";
import type { KeyRow } from "../store/keys.ts";

/** The audited part of a key: nothing secret, and nothing that changes by itself. */
export function toAuditRecord(row: KeyRow) {
  return {
    app_id: row.app_id,
    name: row.name,
    role: row.role,
    scopes: row.scopes,
    last4: row.last4,
    ...shownSettings(row.settings),
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    replaces: row.replaces,
  };
}

/** `secret` is set only in the response that created it. */
export function keyView(row: KeyRow, secret: string | null = null): KeyView {
  const { default_purpose: _appsOnly, data_policy: _alsoAppsOnly, ...settings } = shownSettings(row.settings);
  return {
    object: "key",
    id: row.id,
    workspace_id: row.workspace_id,
    app_id: row.app_id,
    name: row.name,
    role: row.role === "admin" ? "admin" : "member",
    state: stateOf(row),
    scopes: row.scopes.filter((scope): scope is Scope => SCOPES.some((known) => known === scope)),
    prefix: row.prefix,
    last4: row.last4,
    ...settings,
    managed_by: shownManager(row.managed_by),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    replaces: row.replaces,
    ...(secret === null ? {} : { secret }),
  };
}

export function stateOf({ revoked_at, expires_at, now }: KeyRow): KeyView["state"] {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at <= now ? "expired" : "active";
}
