// Validates a key that is created or replaced beyond its schema [keys.invalid]: an existing app, routing settings only with an app, an expiry in the future.
import { GatewayError } from "../../contract/errors.ts";
import type { WorkspaceId } from "../../contract/ids.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { Scope } from "../../contract/scopes.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { AppSettingsInput } from "../app-settings.ts";
import { holdApp } from "../apps.ts";
import type { KeyRow } from "../store/keys.ts";
import { stateOf } from "./key-view.ts";

export interface KeyInput extends AppSettingsInput {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly expires_at: string | null;
}

export interface NewKey extends KeyInput {
  readonly app: string | null;
  readonly role: "member" | "admin";
  readonly mode: "live" | "test";
}

/** An unknown app in the body is a fault of the body, not a 404. */
export async function appOf(tx: DatabaseTransaction, workspaceId: WorkspaceId, app: string): Promise<string> {
  try {
    return (await holdApp(tx, workspaceId, app)).id;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "NOT_FOUND")
      throw invalidRequest("app", "`app` names no app of this workspace.");
    throw error;
  }
}

/** A key without an app can only administer. */
export function refuseMisfit({ app, role, mode, route, audio_input_override, purposes }: NewKey): void {
  if (app !== null) return;
  if (role !== "admin") throw invalidRequest("role", "A key that belongs to no app must have the role `admin`.");
  if (mode !== "live") throw invalidRequest("mode", "Only a key of an app can be a test key.");
  if (route !== null) throw invalidRequest("route", "Only a key of an app has a route.");
  if (audio_input_override !== null)
    throw invalidRequest("audio_input_override", "Only a key of an app has a route for audio.");
  if (purposes.length > 0) throw invalidRequest("purposes", "Only a key of an app has purposes.");
}

export function refusePast({ expires_at, now }: KeyRow): void {
  if (expires_at !== null && expires_at <= now)
    throw invalidRequest("expires_at", "`expires_at` has passed already. Revoke a key to end it now.");
}

export function refuseEnded(row: KeyRow): void {
  if (stateOf(row) === "active") return;
  throw new GatewayError("CONFLICT", {
    message: "The key no longer works. Create a new one.",
    details: { reason: "revoked" },
  });
}
