// Reads what routes and connections of a scope can reference, and what references them [admin.connection-in-use] [admin.route-in-use]. Callers lock
// connections and routes first, so that the answer still holds at their commit.
import { sql } from "kysely";
import { type DirectoryScope, PLATFORM } from "../../directory/snapshot.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { ConnectionRow, RouteRow } from "../../storage/schema/tables.ts";

export async function listConnectionsOfScopes(
  tx: DatabaseTransaction,
  scopes: readonly DirectoryScope[],
): Promise<readonly ConnectionRow[]> {
  return tx.selectFrom("connections").selectAll().where("scope", "in", scopes).execute();
}

export async function listRoutesOfScopes(
  tx: DatabaseTransaction,
  scopes: readonly DirectoryScope[],
  { onlyPublished }: { readonly onlyPublished: boolean },
): Promise<readonly Pick<RouteRow, "scope" | "id">[]> {
  const query = tx.selectFrom("routes").select(["scope", "id"]).where("scope", "in", scopes);
  return (onlyPublished ? query.where("version", "is not", null) : query).execute();
}

/** Those of the ids that are routes of the scopes. */
export async function listExistingRoutes(
  tx: DatabaseTransaction,
  scopes: readonly DirectoryScope[],
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.selectFrom("routes").select("id").where("scope", "in", scopes).where("id", "in", ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** For a shared route: whether a workspace has a route with this id. For a workspace's route: whether a shared one has it. */
export async function isRouteElsewhere(tx: DatabaseTransaction, scope: DirectoryScope, id: string): Promise<boolean> {
  const others = tx.selectFrom("routes").select("id").where("id", "=", id);
  const other = await (scope === PLATFORM
    ? others.where("scope", "<>", PLATFORM)
    : others.where("scope", "=", PLATFORM)
  ).executeTakeFirst();
  return other !== undefined;
}

export interface LiveRoute {
  readonly scope: DirectoryScope;
  readonly id: string;
  readonly definition: unknown;
}

/** Returns published routes that use this very account. In a workspace with an own connection of the id, the shared one is not used. */
export async function routesOnConnection(
  tx: DatabaseTransaction,
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
export async function usersOfRoute(
  tx: DatabaseTransaction,
  scope: DirectoryScope,
  id: string,
): Promise<readonly RouteUser[]> {
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
