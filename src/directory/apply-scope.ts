// Writes connections and routes from the configuration file, of one scope: the shared ones, or those of one workspace [configuration.same-file]. Unchanged
// objects are not written, so that a start changes nothing, and each change is a version and an audit entry.
import { isDeepStrictEqual } from "node:util";
import type { Configuration, ConnectionConfiguration, RouteConfiguration } from "../config/configuration.ts";
import { brand, type WorkspaceId } from "../contract/ids.ts";
import { writeAudit } from "../storage/audit-log.ts";
import { readConnection, setConnectionManager } from "./store/connections.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { addRouteVersion, publishRouteVersion, readRoute, setRouteManager } from "./store/routes.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { ConnectionRow } from "../storage/schema/tables.ts";
import { lastFour, openCredential } from "./connection-credential.ts";
import { upsertConnection } from "./upsert-connection.ts";
import { type DirectoryScope, PLATFORM } from "./snapshot.ts";

export interface ApplyScope {
  readonly tx: DatabaseTransaction;
  readonly seal: Seal;
  /** The value of `managed_by` for the written objects. */
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
  const { id, kind, baseUrl, region, dataPolicy } = connection;
  const name = { scope, id };
  const before = await readConnection(tx, name);
  const isUnchanged = before !== null && (await isSame({ tx, seal }, before, connection));
  if (isUnchanged && before.managed_by === manager) return;
  if (isUnchanged) await setConnectionManager(tx, name, manager);
  else await upsertConnection({ tx, seal }, scope, connection, manager);
  await auditFile(tx, scope, "connection.applied", id, before === null ? null : auditView(before), {
    kind,
    base_url: baseUrl,
    region,
    data_policy: dataPolicy,
    managed_by: manager,
  });
}

async function isSame(
  apply: Pick<ApplyScope, "tx" | "seal">,
  before: ConnectionRow,
  { id: _id, kind, apiKey, baseUrl, ...settings }: ConnectionConfiguration,
): Promise<boolean> {
  if (before.kind !== kind || before.base_url !== baseUrl) return false;
  if (!isDeepStrictEqual(before.settings, roundTrip(settings))) return false;
  // `credential_last4` is newer than rows that an earlier version stored.
  if (apiKey !== null && before.credential_last4 !== lastFour(apiKey)) return false;
  return (await openOrUndefined(apply, before)) === apiKey;
}

/** Undefined: no key of the key ring opens the credential, so it is written again. */
async function openOrUndefined(
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
  const isUnchanged = before !== null && isDeepStrictEqual(before.definition, roundTrip(definition));
  if (isUnchanged && before.managed_by === manager) return;
  let version = before?.version ?? null;
  if (isUnchanged) await setRouteManager(tx, name, manager);
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

function auditView({ kind, base_url, managed_by }: ConnectionRow): object {
  return { kind, base_url, managed_by };
}

/** The value as storage returns it. */
function roundTrip(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Writes an audit entry for a change by the file, which has no acting key. */
export async function auditFile(
  tx: DatabaseTransaction,
  scope: DirectoryScope,
  action: string,
  object: string,
  before: object | null,
  after: object | null,
): Promise<void> {
  const workspaceId: WorkspaceId | null = scope === PLATFORM ? null : brand("workspace", scope);
  await writeAudit(tx, { workspaceId, actorKeyId: null, action, object, before, after });
}
