// Reads what a connection or route of a scope can reference, and what references it [admin.connection-in-use] [admin.route-in-use]: shared objects and, in a
// workspace, its own. Read under the directory's lock, so that it still holds at the commit.
import { sql } from "kysely";
import type { Entry } from "../config/raw-data.ts";
import type { SetUpScope } from "../config/check-route.ts";
import { brand, type KeyId, type WorkspaceId } from "../contract/ids.ts";
import { type DirectoryScope, PLATFORM } from "../directory/snapshot.ts";
import { announceChange } from "../storage/connection/announce.ts";
import { writeAudit } from "../storage/audit-log.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { lockDirectory } from "../storage/directory-state.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { asWorkspaceOrSystem, changeAsWorkspaceOrSystem, type Handle } from "../storage/system.ts";
import type { ConnectionRow } from "../storage/schema/tables.ts";
import { noSuch } from "./refusals.ts";

/** For the HTTP layer, which does not import the directory. */
export const PLATFORM_SCOPE = PLATFORM;

export interface SetUpServices {
  readonly database: Database;
  readonly seal: Seal;
  /** Returns why a workspace's `base_url` is refused. Null: it may be called now. */
  readonly refusedAddress: (url: string) => Promise<string | null>;
  /** Resolves when everything committed is in force on this process. Others are notified. */
  readonly refreshDirectory: () => Promise<void>;
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
  work: (tx: Transacting) => Promise<T>,
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
async function requireScope(tx: Transacting, scope: DirectoryScope): Promise<void> {
  if (scope === PLATFORM) return;
  const workspace = await tx.selectFrom("workspaces").select("id").where("id", "=", scope).executeTakeFirst();
  if (workspace === undefined) throw noSuch("workspace");
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

export async function auditSetUp(tx: Transacting, { scope, actor }: SetUpActor, change: SetUpChange): Promise<void> {
  await writeAudit(tx, { workspaceId: workspaceOf(scope), actorKeyId: actor, ...change });
}

/** `routes`: those that a purpose may select. `connection`: as it is about to be. */
export async function readSetUp(
  tx: Transacting,
  scope: DirectoryScope,
  options: { readonly onlyPublished: boolean; readonly connection?: ConnectionLike } = { onlyPublished: false },
): Promise<SetUpScope> {
  const scopes = [...new Set([PLATFORM, scope])];
  const connections = await tx.selectFrom("connections").selectAll().where("scope", "in", scopes).execute();
  const query = tx.selectFrom("routes").select(["scope", "id"]).where("scope", "in", scopes);
  const routes = await (options.onlyPublished ? query.where("version", "is not", null) : query).execute();
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

export interface LiveRoute {
  readonly scope: DirectoryScope;
  readonly id: string;
  readonly definition: unknown;
}

/** Returns published routes that use this very account. In a workspace with an own connection of the id, the shared one is not used. */
export async function routesOnConnection(
  tx: Transacting,
  scope: DirectoryScope,
  id: string,
): Promise<readonly LiveRoute[]> {
  const named = JSON.stringify({ targets: [{ connection: id }] });
  const routes = tx
    .selectFrom("routes")
    .select(["scope", "id", "definition"])
    .where(sql<boolean>`definition @> ${named}::jsonb`);
  if (scope !== PLATFORM) return routes.where("scope", "=", scope).execute();
  const shadowed = tx.selectFrom("connections").select("scope").where("id", "=", id).where("scope", "<>", PLATFORM);
  return routes.where("scope", "not in", shadowed).execute();
}

export interface RouteUser {
  readonly object: "app" | "key" | "route";
  /** An app's slug, otherwise the id. */
  readonly id: string;
  /** The workspace's slug. Null: a shared route. */
  readonly workspace: string | null;
}

const MAX_USERS = 10;

/** Returns the first apps, active keys, and purposes of other routes that reference the route. */
export async function usersOfRoute(tx: Transacting, scope: DirectoryScope, id: string): Promise<readonly RouteUser[]> {
  const purposes = JSON.stringify({ purposes: [{ route: id }] });
  const ownerId = scope === PLATFORM ? null : scope;
  const { rows } = await sql<RouteUser>`select named.object, named.id, workspaces.slug as workspace from (
      select 1 as rank, 'app' as object, slug as id, workspace_id as owner from apps
        where (${ownerId}::text is null or workspace_id = ${ownerId}) and ${referencesRoute(id, purposes)}
      union all select 2, 'key', id, workspace_id from api_keys
        where (${ownerId}::text is null or workspace_id = ${ownerId}) and revoked_at is null and ${referencesRoute(id, purposes)}
      union all select 3, 'route', id, scope from routes
        where (${ownerId}::text is null or scope = ${ownerId}) and not (scope = ${scope} and id = ${id}) and definition @> ${purposes}::jsonb
    ) as named left join workspaces on workspaces.id = named.owner
    order by named.rank, workspaces.slug nulls first, named.id limit ${MAX_USERS}`.execute(tx);
  return rows;
}

function referencesRoute(id: string, purposes: string) {
  return sql`(settings ->> 'route' = ${id} or settings ->> 'audioInputOverride' = ${id} or settings @> ${purposes}::jsonb)`;
}

export function workspaceOf(scope: DirectoryScope): WorkspaceId | null {
  return scope === PLATFORM ? null : brand("workspace", scope);
}
