// What a connection or a route of one scope can refer to, and what refers to it [admin.connection-in-use] [admin.route-in-use]: shared
// objects and, in a workspace, its own. Read under the directory's lock, so that it still holds at the commit.
import { sql } from "kysely";
import type { Entry } from "../config/raw-data.ts";
import type { SetUpScope } from "../config/check-route.ts";
import { brand, type KeyId, type WorkspaceId } from "../contract/ids.ts";
import { type DirectoryScope, PLATFORM } from "../directory/snapshot.ts";
import { announceChange } from "../storage/announce.ts";
import { writeAudit } from "../storage/audit-log.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { lockDirectory } from "../storage/directory-state.ts";
import type { Seal } from "../storage/seal.ts";
import { asWorkspaceOrSystem, changeAsWorkspaceOrSystem, type Handle } from "../storage/system.ts";
import type { ConnectionRow } from "../storage/tables.ts";
import { noSuch } from "./refusals.ts";

/** For the edge, which does not import the directory. */
export const PLATFORM_SCOPE = PLATFORM;

export interface SetUpServices {
  readonly database: Database;
  readonly seal: Seal;
  /** Why a workspace's `base_url` is refused; null: it may be dialled now. */
  readonly refusedAddress: (url: string) => Promise<string | null>;
  /** What was committed is in force on this process when it resolves; the others hear of it. */
  readonly refreshDirectory: () => Promise<void>;
}

/** Whose set-up is changed, and by whom. */
export interface SetUpActor {
  readonly scope: DirectoryScope;
  readonly actor: KeyId;
}

/** One change at a time, announced, and in force here before it is answered. */
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
  // Committed and announced: a look that fails now is made up for by the next one, and must not make the change seem undone.
  await refreshDirectory().catch(() => undefined);
  return answer;
}

/** Nothing but its id holds what is set up to its workspace: what came after the workspace went would stay for ever. */
async function requireScope(tx: Transacting, scope: DirectoryScope): Promise<void> {
  if (scope === PLATFORM) return;
  const workspace = await tx.selectFrom("workspaces").select("id").where("id", "=", scope).executeTakeFirst();
  if (workspace === undefined) throw noSuch("workspace");
}

/** Reads with the sight of whose set-up it is. */
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
  /** Never a credential. */
  readonly before: object | null;
  readonly after: object | null;
}

export async function auditSetUp(tx: Transacting, { scope, actor }: SetUpActor, change: SetUpChange): Promise<void> {
  await writeAudit(tx, { workspaceId: workspaceOf(scope), actorKeyId: actor, ...change });
}

/** `routes`: those that a purpose may select; `connection`: as it is about to be. */
export async function readSetUp(
  tx: Transacting,
  scope: DirectoryScope,
  options: { readonly onlyPublished: boolean; readonly connection?: ConnectionLike } = { onlyPublished: false },
): Promise<SetUpScope> {
  const scopes = [...new Set([PLATFORM, scope])];
  const connections = await tx.selectFrom("connections").selectAll().where("scope", "in", scopes).execute();
  const heads = tx.selectFrom("routes").select(["scope", "id"]).where("scope", "in", scopes);
  const routes = await (options.onlyPublished ? heads.where("version", "is not", null) : heads).execute();
  // A workspace's own replaces the platform's of its id.
  const inOrder = connections.toSorted((a, b) => Number(a.scope !== PLATFORM) - Number(b.scope !== PLATFORM));
  const changed = options.connection === undefined ? [] : [options.connection];
  return {
    connections: new Map([...inOrder.map(connectionLike), ...changed].map((each) => [each.id, entryOf(each)])),
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

/** Published routes that reach this very account: in a workspace with an own one of its id, the platform's is not meant. */
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
  /** Of an app its slug. */
  readonly id: string;
  /** The workspace's slug; null: the platform. */
  readonly workspace: string | null;
}

const MOST_USERS = 10;

/** Apps, keys in use and other routes' purposes that name it: the first of them. */
export async function usersOfRoute(tx: Transacting, scope: DirectoryScope, id: string): Promise<readonly RouteUser[]> {
  const purposes = JSON.stringify({ purposes: [{ route: id }] });
  const whose = scope === PLATFORM ? null : scope;
  const { rows } = await sql<RouteUser>`select named.object, named.id, workspaces.slug as workspace from (
      select 1 as rank, 'app' as object, slug as id, workspace_id as owner from apps
        where (${whose}::text is null or workspace_id = ${whose}) and ${namesRoute(id, purposes)}
      union all select 2, 'key', id, workspace_id from api_keys
        where (${whose}::text is null or workspace_id = ${whose}) and revoked_at is null and ${namesRoute(id, purposes)}
      union all select 3, 'route', id, scope from routes
        where (${whose}::text is null or scope = ${whose}) and not (scope = ${scope} and id = ${id}) and definition @> ${purposes}::jsonb
    ) as named left join workspaces on workspaces.id = named.owner
    order by named.rank, workspaces.slug nulls first, named.id limit ${MOST_USERS}`.execute(tx);
  return rows;
}

function namesRoute(id: string, purposes: string) {
  return sql`(settings ->> 'route' = ${id} or settings ->> 'audioInputOverride' = ${id} or settings @> ${purposes}::jsonb)`;
}

export function workspaceOf(scope: DirectoryScope): WorkspaceId | null {
  return scope === PLATFORM ? null : brand("workspace", scope);
}
