// Writes the connections and routes of one scope as the configuration file has them [configuration.same-file]. What is unchanged is not
// written, so that a start changes nothing, and whatever did change is a version and an audit entry.
import { isDeepStrictEqual } from "node:util";
import type { Configuration, ConnectionConfiguration, RouteConfiguration } from "../config/configuration.ts";
import { brand, type WorkspaceId } from "../contract/ids.ts";
import { writeAudit } from "../storage/audit-log.ts";
import { readConnection, setConnectionManager } from "../storage/connections.ts";
import type { Transacting } from "../storage/database.ts";
import { addRouteVersion, publishRouteVersion, readRoute, setRouteManager } from "../storage/routes.ts";
import type { Seal } from "../storage/seal.ts";
import type { ConnectionRow } from "../storage/tables.ts";
import { lastFour, openCredential } from "./connection-credential.ts";
import { upsertConnection } from "./upsert-connection.ts";
import { type DirectoryScope, PLATFORM } from "./snapshot.ts";

export interface ApplyScope {
  readonly tx: Transacting;
  readonly seal: Seal;
  /** Of what is put. */
  readonly manager: "file" | "bootstrap";
}

export type ScopeObjects = Pick<Configuration, "connections" | "routes">;

export async function putScope(
  apply: ApplyScope,
  scope: DirectoryScope,
  { connections, routes }: ScopeObjects,
): Promise<void> {
  for (const connection of connections) await applyConnection(apply, scope, connection);
  for (const route of routes) await applyRoute(apply, scope, route);
}

async function applyConnection(
  { tx, seal, manager }: ApplyScope,
  scope: DirectoryScope,
  connection: ConnectionConfiguration,
): Promise<void> {
  const { id, kind, baseUrl } = connection;
  const name = { scope, id };
  const before = await readConnection(tx, name);
  const asBefore = before !== null && (await isSame({ tx, seal }, before, connection));
  if (asBefore && before.managed_by === manager) return;
  if (asBefore) await setConnectionManager(tx, name, manager);
  else await upsertConnection({ tx, seal }, scope, connection, manager);
  await auditFile(tx, scope, "connection.applied", id, before === null ? null : shown(before), {
    kind,
    base_url: baseUrl,
    managed_by: manager,
  });
}

async function isSame(
  apply: Pick<ApplyScope, "tx" | "seal">,
  before: ConnectionRow,
  { id: _id, kind, apiKey, baseUrl, ...settings }: ConnectionConfiguration,
): Promise<boolean> {
  if (before.kind !== kind || before.base_url !== baseUrl) return false;
  if (!isDeepStrictEqual(before.settings, asStored(settings))) return false;
  // Shown since a later version than the one that stored it.
  if (apiKey !== null && before.credential_last4 !== lastFour(apiKey)) return false;
  return (await openedOrNull(apply, before)) === apiKey;
}

/** What no key of the ring opens any more is written anew. */
async function openedOrNull(
  { tx, seal }: Pick<ApplyScope, "tx" | "seal">,
  before: ConnectionRow,
): Promise<string | null | undefined> {
  try {
    return await openCredential(tx, seal, before);
  } catch {
    return undefined;
  }
}

async function applyRoute(
  { tx, manager }: ApplyScope,
  scope: DirectoryScope,
  { id, ...definition }: RouteConfiguration,
): Promise<void> {
  const name = { scope, id };
  const before = await readRoute(tx, name);
  const asBefore = before !== null && isDeepStrictEqual(before.definition, asStored(definition));
  if (asBefore && before.managed_by === manager) return;
  let version = before?.version ?? null;
  if (asBefore) await setRouteManager(tx, name, manager);
  else {
    version = await addRouteVersion(tx, name, { definition, managedBy: manager, actorKeyId: null });
    await publishRouteVersion(tx, name, version);
  }
  await auditFile(
    tx,
    scope,
    "route.applied",
    id,
    before === null ? null : { version: before.version, managed_by: before.managed_by },
    { version, managed_by: manager },
  );
}

function shown({ kind, base_url, managed_by }: ConnectionRow): object {
  return { kind, base_url, managed_by };
}

/** As it comes back from storage. */
function asStored(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** A change of the file's: nobody's key made it. */
export async function auditFile(
  tx: Transacting,
  scope: DirectoryScope,
  action: string,
  object: string,
  before: object | null,
  after: object | null,
): Promise<void> {
  const workspaceId: WorkspaceId | null = scope === PLATFORM ? null : brand("workspace", scope);
  await writeAudit(tx, { workspaceId, actorKeyId: null, action, object, before, after });
}
