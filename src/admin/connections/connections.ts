// Provider accounts of the operator and of workspaces [admin.connections]: create, list, get, replace, rotate the credential, delete. They are validated
// like those of the configuration file, a workspace's address is checked before it is stored, and the credential is sealed and never shown again.
import type { ConnectionView } from "../../contract/admin/connections.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { ParsedConnection } from "../../contract/settings/connection.ts";
import { openCredential } from "../../directory/connection-credential.ts";
import { upsertConnection } from "../../directory/upsert-connection.ts";
import { PLATFORM } from "../../directory/snapshot.ts";
import { mapDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";
import { pageOf } from "../../lib/list-page.ts";
import { deleteConnection, listConnections, readConnection } from "../../directory/store/connections.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Handle } from "../../storage/system.ts";
import type { ConnectionRow } from "../../storage/schema/tables.ts";
import { connectionFacts, isSameConnection, viewConnection } from "./connection-view.ts";
import { judgeConnection, storedRouteFaults } from "../validate-settings.ts";
import { refuseManagedByFile } from "../refuse-managed.ts";
import { allowMatch, type Precondition, requireMatch } from "../precondition.ts";
import { inUse, noSuch, alreadyExists } from "../refusals.ts";
import type { Page, PageRequest } from "../services.ts";
import {
  auditSetUp,
  changeSetUp,
  type ConnectionLike,
  connectionLike,
  readAs,
  readSetUp,
  type SetUpActor,
  type SetUpServices,
} from "../set-up-scope.ts";
import { routesOnConnection } from "../store/route-references.ts";

export interface ConnectionChange extends SetUpActor {
  readonly id: string;
  readonly precondition: Precondition;
}

export async function listConnectionViews(
  services: SetUpServices,
  { scope, limit, after }: Pick<SetUpActor, "scope"> & PageRequest,
): Promise<Page<ConnectionView>> {
  const rows = await readAs(services, { scope }, (db) => listConnections(db, scope, { after, limit: limit + 1 }));
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map(viewConnection), end: nextCursor };
}

export async function describeConnection(
  services: SetUpServices,
  { scope, id }: Pick<ConnectionChange, "scope" | "id">,
): Promise<ConnectionView> {
  const row = await readAs(services, { scope }, (db) => readConnection(db, { scope, id }));
  if (row === null) throw noSuch("connection");
  return viewConnection(row);
}

export async function createConnection(
  services: SetUpServices,
  { body, ...change }: SetUpActor & { readonly body: object },
): Promise<ConnectionView> {
  const wanted = judgeConnection(body, null);
  await refuseAddress(services, change, wanted);
  return changeSetUp(services, change, async (tx) => {
    const name = { scope: change.scope, id: wanted.id };
    if ((await readConnection(tx, name)) !== null) throw alreadyExists("connection");
    await refuseBrokenRoutes(tx, change, wanted);
    return saveConnection(services, tx, change, { before: null, wanted, action: "connection.created" });
  });
}

export async function replaceConnection(
  services: SetUpServices,
  { body, ...change }: ConnectionChange & { readonly body: object },
): Promise<ConnectionView> {
  const storedCredential = readAs(services, change, async (db) =>
    openCredential(db, services.seal, await requireEditable(db, change)),
  );
  const credential = await mapDatabaseUnavailable(storedCredential);
  await refuseAddress(services, change, judgeConnection(body, credential));
  return changeSetUp(services, change, async (tx) => {
    const before = await requireEditable(tx, change);
    requireMatch(change.precondition, viewConnection(before));
    const currentCredential = await openCredential(tx, services.seal, before);
    const wanted = judgeConnection(body, currentCredential);
    // Otherwise a caller who may change the address could have an unknown credential sent to a server of their own.
    if (wanted.apiKey !== null && !bringsCredential(body) && hasNewAddress(before, wanted))
      throw invalidRequest("api_key", "api_key: send the credential again, because the address changes.");
    if (wanted.apiKey === currentCredential && isSameConnection(before, wanted)) return viewConnection(before);
    await refuseBrokenRoutes(tx, change, wanted);
    return saveConnection(services, tx, change, { before, wanted, action: "connection.changed" });
  });
}

export async function rotateCredential(
  services: SetUpServices,
  { apiKey, ...change }: ConnectionChange & { readonly apiKey: string },
): Promise<ConnectionView> {
  return changeSetUp(services, change, async (tx) => {
    const before = await requireEditable(tx, change);
    allowMatch(change.precondition, viewConnection(before));
    const wanted = judgeConnection({ ...connectionFacts(before), api_key: apiKey }, null);
    return saveConnection(services, tx, change, { before, wanted, action: "connection.credential_rotated" });
  });
}

export async function removeConnection(services: SetUpServices, change: ConnectionChange): Promise<void> {
  const { scope, id } = change;
  await changeSetUp(services, change, async (tx) => {
    const before = await requireEditable(tx, change);
    allowMatch(change.precondition, viewConnection(before));
    // The shared account of the same id takes the place of a workspace's deleted one.
    const successor = scope === PLATFORM ? null : await readConnection(tx, { scope: PLATFORM, id });
    const [route] = await routesOnConnection(tx, scope, id);
    if (route !== undefined && successor === null) throw inUse("connection", nameRoute(change, route));
    if (successor !== null) await refuseBrokenRoutes(tx, change, connectionLike(successor));
    await deleteConnection(tx, { scope, id });
    await auditSetUp(tx, change, {
      action: "connection.deleted",
      object: id,
      before: connectionFacts(before),
      after: null,
    });
  });
}

/** Throws 404, and 409 for objects of the file. A change holds the directory's lock. */
async function requireEditable(tx: Handle, { scope, id }: ConnectionChange): Promise<ConnectionRow> {
  const row = await readConnection(tx, { scope, id });
  if (row === null) throw noSuch("connection");
  refuseManagedByFile(row);
  return row;
}

interface ConnectionSave {
  readonly before: ConnectionRow | null;
  readonly wanted: ParsedConnection;
  readonly action: string;
}

async function saveConnection(
  { seal }: SetUpServices,
  tx: DatabaseTransaction,
  actor: SetUpActor,
  { before, wanted, action }: ConnectionSave,
): Promise<ConnectionView> {
  await upsertConnection({ tx, seal }, actor.scope, wanted, "api");
  const after = await readConnection(tx, { scope: actor.scope, id: wanted.id });
  if (after === null) throw new Error("a connection that was just written is not there");
  await auditSetUp(tx, actor, {
    action,
    object: wanted.id,
    before: before === null ? null : connectionFacts(before),
    after: connectionFacts(after),
  });
  return viewConnection(after);
}

/** Resolves the host name, so it runs before the transaction. Every call checks the address again. */
async function refuseAddress(
  { refusedAddress }: SetUpServices,
  { scope }: SetUpActor,
  { baseUrl }: ParsedConnection,
): Promise<void> {
  if (scope === PLATFORM || baseUrl === null) return;
  const refusal = await refusedAddress(baseUrl);
  if (refusal !== null) throw invalidRequest("base_url", `base_url: ${refusal}`);
}

/** Refuses a change that would break a published route. */
async function refuseBrokenRoutes(
  tx: DatabaseTransaction,
  actor: SetUpActor,
  connection: ConnectionLike,
): Promise<void> {
  for (const route of await routesOnConnection(tx, actor.scope, connection.id)) {
    const setUp = await readSetUp(tx, route.scope, { onlyPublished: true, connection });
    const [fault] = storedRouteFaults(route.definition, setUp);
    if (fault !== undefined) throw inUse("connection", `${nameRoute(actor, route)}, where ${fault.message}`);
  }
}

/** Routes of other workspaces are not named here. */
function nameRoute({ scope }: SetUpActor, route: { readonly scope: string; readonly id: string }): string {
  return route.scope === scope ? `route \`${route.id}\` names it` : "a workspace's route names it";
}

function bringsCredential(body: object): boolean {
  return "api_key" in body && typeof body.api_key === "string" && body.api_key !== "";
}

function hasNewAddress(before: ConnectionRow, wanted: ParsedConnection): boolean {
  const originOf = (url: string | null) => (url === null ? null : new URL(url).origin);
  return before.kind !== wanted.kind || originOf(before.base_url) !== originOf(wanted.baseUrl);
}
