// Runs a change of connections or routes, shared or of one workspace, in a transaction that holds the lock on all of them, and reads what the changed object
// may reference: shared objects and, in a workspace, its own.
import type { Entry } from "../config/raw-data.ts";
import type { SetUpScope } from "../config/check-route.ts";
import { brand, type KeyId, type WorkspaceId } from "../contract/ids.ts";
import { type Directory, type DirectoryScope, PLATFORM } from "../directory/snapshot.ts";
import { announceChange } from "../storage/connection/announce.ts";
import { writeAudit } from "../storage/audit-log.ts";
import type { Database, DatabaseTransaction } from "../storage/database.ts";
import { lockDirectory } from "../storage/directory-state.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { asWorkspaceOrSystem, changeAsWorkspaceOrSystem, type Handle } from "../storage/system.ts";
import type { ConnectionRow } from "../storage/schema/tables.ts";
import { noSuch } from "./refusals.ts";
import { listConnectionsOfScopes, listRoutesOfScopes } from "./store/route-references.ts";
import { hasWorkspace } from "./store/workspaces.ts";

/** For the HTTP layer, which does not import the directory. */
export const PLATFORM_SCOPE = PLATFORM;

export interface SetUpServices {
  readonly database: Database;
  readonly seal: Seal;
  /** Returns why a workspace's `base_url` is refused. Null: it may be called now. */
  readonly refusedAddress: (url: string) => Promise<string | null>;
  /** Resolves when everything committed is in force on this process. Others are notified. */
  readonly refreshDirectory: () => Promise<void>;
  readonly directory: () => Directory;
  /** The clock by which models retire. */
  readonly modelClock: () => Date;
}

/** The scope that is changed, and the acting key. */
export interface SetUpActor {
  readonly scope: DirectoryScope;
  readonly actor: KeyId;
}

/** Runs one change at a time under the directory's lock. It is announced, and in force on this process before the response. */
export async function changeSetUp<T>(
  { database, refreshDirectory }: SetUpServices,
  { scope }: SetUpActor,
  work: (tx: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  const answer = await changeAsWorkspaceOrSystem(database, workspaceOf(scope), async (tx) => {
    await lockDirectory(tx);
    await requireScope(tx, scope);
    const changed = await work(tx);
    await announceChange(tx, "directory", scope);
    return changed;
  });
  // The change is committed and announced. A failed refresh is repeated by the next one, and must not make the change look failed.
  await refreshDirectory().catch(() => undefined);
  return answer;
}

/** Only its id links an object to its workspace, so an object that was created after the workspace was deleted would stay for ever. */
async function requireScope(tx: DatabaseTransaction, scope: DirectoryScope): Promise<void> {
  if (scope === PLATFORM) return;
  if (!(await hasWorkspace(tx, scope))) throw noSuch("workspace");
}

/** Reads with the row-level security of the scope. */
export async function readAs<T>(
  { database }: Pick<SetUpServices, "database">,
  { scope }: Pick<SetUpActor, "scope">,
  work: (db: Handle) => Promise<T>,
): Promise<T> {
  return asWorkspaceOrSystem(database, workspaceOf(scope), work);
}

export interface SetUpChange {
  readonly action: string;
  readonly object: string;
  /** Never contains a credential. */
  readonly before: object | null;
  readonly after: object | null;
}

export async function auditSetUp(
  tx: DatabaseTransaction,
  { scope, actor }: SetUpActor,
  change: SetUpChange,
): Promise<void> {
  await writeAudit(tx, { workspaceId: workspaceOf(scope), actorKeyId: actor, ...change });
}

/** `routes`: those that a purpose may select. `connection`: as it is about to be. */
export async function readSetUp(
  tx: DatabaseTransaction,
  scope: DirectoryScope,
  options: { readonly onlyPublished: boolean; readonly connection?: ConnectionLike } = { onlyPublished: false },
): Promise<SetUpScope> {
  const scopes = [...new Set([PLATFORM, scope])];
  const connections = await listConnectionsOfScopes(tx, scopes);
  const routes = await listRoutesOfScopes(tx, scopes, options);
  // A workspace's own connection replaces the shared one of its id.
  const sorted = connections.toSorted((a, b) => Number(a.scope !== PLATFORM) - Number(b.scope !== PLATFORM));
  const changed = options.connection === undefined ? [] : [options.connection];
  return {
    connections: new Map([...sorted.map(connectionLike), ...changed].map((each) => [each.id, entryOf(each)])),
    routes: new Map(routes.map(({ id }) => [id, { path: [], value: { id } }])),
  };
}

export interface ConnectionLike {
  readonly id: string;
  readonly kind: string;
  readonly models: unknown;
}

export function connectionLike({ id, kind, settings }: ConnectionRow): ConnectionLike {
  const models = typeof settings === "object" && settings !== null && "models" in settings ? settings.models : {};
  return { id, kind, models };
}

function entryOf({ id, kind, models }: ConnectionLike): Entry {
  return { path: [], value: { id, kind, models } };
}

export function workspaceOf(scope: DirectoryScope): WorkspaceId | null {
  return scope === PLATFORM ? null : brand("workspace", scope);
}
