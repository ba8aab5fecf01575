// Provider accounts of the operator and of workspaces [admin.connections]: judged like the file's, a workspace's address vetted before it is
// stored, the credential sealed and never shown again.
import type { ConnectionView } from "../contract/connections.ts";
import { invalidRequest } from "../contract/invalid-request.ts";
import type { ParsedConnection } from "../contract/set-up/connection.ts";
import { openCredential } from "../directory/connection-credential.ts";
import { upsertConnection } from "../directory/upsert-connection.ts";
import { PLATFORM } from "../directory/snapshot.ts";
import { mapDatabaseUnavailable } from "../gateway/calls/database-unavailable.ts";
import { pageOf } from "../lib/list-page.ts";
import { deleteConnection, listConnections, readConnection } from "../storage/connections.ts";
import type { Transacting } from "../storage/database.ts";
import type { Handle } from "../storage/system.ts";
import type { ConnectionRow } from "../storage/tables.ts";
import { connectionFacts, isSameConnection, viewConnection } from "./connection-view.ts";
import { judgeConnection, storedRouteFaults } from "./judge-set-up.ts";
import { refuseManagedByFile } from "./managed.ts";
import { allowMatch, type Precondition, requireMatch } from "./precondition.ts";
import { inUse, noSuch, taken } from "./refusals.ts";
import type { Page, PageRequest } from "./services.ts";
import {
  auditSetUp,
  changeSetUp,
  type ConnectionLike,
  connectionLike,
  readAs,
  readSetUp,
  routesOnConnection,
  type SetUpActor,
  type SetUpServices,
} from "./set-up-scope.ts";

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
    if ((await readConnection(tx, name)) !== null) throw taken("connection");
    await refuseStranded(tx, change, wanted);
    return keep(services, tx, change, { before: null, wanted, action: "connection.created" });
  });
}

export async function replaceConnection(
  services: SetUpServices,
  { body, ...change }: ConnectionChange & { readonly body: object },
): Promise<ConnectionView> {
  const held = readAs(services, change, async (db) => openCredential(db, services.seal, await take(db, change)));
  const credential = await mapDatabaseUnavailable(held);
  await refuseAddress(services, change, judgeConnection(body, credential));
  return changeSetUp(services, change, async (tx) => {
    const before = await take(tx, change);
    requireMatch(change.precondition, viewConnection(before));
    const kept = await openCredential(tx, services.seal, before);
    const wanted = judgeConnection(body, kept);
    // Whoever may change the address could otherwise have a credential sent there that was shown to nobody.
    if (wanted.apiKey !== null && !bringsCredential(body) && isElsewhere(before, wanted))
      throw invalidRequest("api_key", "api_key: send the credential again, for it would go to another address.");
    if (wanted.apiKey === kept && isSameConnection(before, wanted)) return viewConnection(before);
    await refuseStranded(tx, change, wanted);
    return keep(services, tx, change, { before, wanted, action: "connection.changed" });
  });
}

export async function rotateCredential(
  services: SetUpServices,
  { apiKey, ...change }: ConnectionChange & { readonly apiKey: string },
): Promise<ConnectionView> {
  return changeSetUp(services, change, async (tx) => {
    const before = await take(tx, change);
    allowMatch(change.precondition, viewConnection(before));
    const wanted = judgeConnection({ ...connectionFacts(before), api_key: apiKey }, null);
    return keep(services, tx, change, { before, wanted, action: "connection.credential_rotated" });
  });
}

export async function removeConnection(services: SetUpServices, change: ConnectionChange): Promise<void> {
  const { scope, id } = change;
  await changeSetUp(services, change, async (tx) => {
    const before = await take(tx, change);
    allowMatch(change.precondition, viewConnection(before));
    // Behind a workspace's own account the platform's of its id steps in.
    const successor = scope === PLATFORM ? null : await readConnection(tx, { scope: PLATFORM, id });
    const [route] = await routesOnConnection(tx, scope, id);
    if (route !== undefined && successor === null) throw inUse("connection", nameRoute(change, route));
    if (successor !== null) await refuseStranded(tx, change, connectionLike(successor));
    await deleteConnection(tx, { scope, id });
    await auditSetUp(tx, change, {
      action: "connection.deleted",
      object: id,
      before: connectionFacts(before),
      after: null,
    });
  });
}

/** Throws 404, and 409 for the file's. For a change the directory's lock is held. */
async function take(tx: Handle, { scope, id }: ConnectionChange): Promise<ConnectionRow> {
  const row = await readConnection(tx, { scope, id });
  if (row === null) throw noSuch("connection");
  refuseManagedByFile(row);
  return row;
}

interface Kept {
  readonly before: ConnectionRow | null;
  readonly wanted: ParsedConnection;
  readonly action: string;
}

async function keep(
  { seal }: SetUpServices,
  tx: Transacting,
  actor: SetUpActor,
  { before, wanted, action }: Kept,
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

/** A resolver is asked: before the transaction, and again at every call. */
async function refuseAddress(
  { refusedAddress }: SetUpServices,
  { scope }: SetUpActor,
  { baseUrl }: ParsedConnection,
): Promise<void> {
  if (scope === PLATFORM || baseUrl === null) return;
  const refusal = await refusedAddress(baseUrl);
  if (refusal !== null) throw invalidRequest("base_url", `base_url: ${refusal}`);
}

/** Published routes must be able to go on with it. */
async function refuseStranded(tx: Transacting, actor: SetUpActor, connection: ConnectionLike): Promise<void> {
  for (const route of await routesOnConnection(tx, actor.scope, connection.id)) {
    const setUp = await readSetUp(tx, route.scope, { onlyPublished: true, connection });
    const [fault] = storedRouteFaults(route.definition, setUp);
    if (fault !== undefined) throw inUse("connection", `${nameRoute(actor, route)}, where ${fault.message}`);
  }
}

/** Another workspace's routes have no name here. */
function nameRoute({ scope }: SetUpActor, route: { readonly scope: string; readonly id: string }): string {
  return route.scope === scope ? `route \`${route.id}\` names it` : "a workspace's route names it";
}

function bringsCredential(body: object): boolean {
  return "api_key" in body && typeof body.api_key === "string" && body.api_key !== "";
}

function isElsewhere(before: ConnectionRow, wanted: ParsedConnection): boolean {
  const originOf = (url: string | null) => (url === null ? null : new URL(url).origin);
  return before.kind !== wanted.kind || originOf(before.base_url) !== originOf(wanted.baseUrl);
}
