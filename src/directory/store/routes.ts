// Stores routes and their versions: every change creates a version, one version is published, and versions never change [admin.route-versions].
import { type Kysely, sql } from "kysely";
import type { KeyId } from "../../contract/ids.ts";
import { MAX_TARGETS } from "../../contract/settings/route.ts";
import type { SystemHandle, DatabaseTransaction } from "../../storage/database.ts";
import type { Handle } from "../../storage/system.ts";
import type { RouteRow, RouteVersionRow, Tables } from "../../storage/schema/tables.ts";

/** `scope` is `platform` or a workspace id. */
export interface RouteName {
  readonly scope: string;
  readonly id: string;
}

/** `bootstrap`: created at startup from the environment, which it follows until the file lists it. */
export type ManagedBy = "file" | "bootstrap" | "api";

/** The values of `ManagedBy` for objects that the API does not manage. */
export const FILE_MANAGERS: readonly ManagedBy[] = ["file", "bootstrap"];

type Reading = Pick<Kysely<Tables>, "selectFrom">;

export async function readRoute(db: Reading, { scope, id }: RouteName): Promise<RouteRow | null> {
  const row = await db
    .selectFrom("routes")
    .selectAll()
    .where("scope", "=", scope)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Routes in id order, after the id `after`. */
export async function listRoutes(
  db: Reading,
  scope: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly RouteRow[]> {
  const rows = db.selectFrom("routes").selectAll().where("scope", "=", scope).orderBy("id").limit(limit);
  return (after === null ? rows : rows.where("id", ">", after)).execute();
}

/** Routes of all scopes. */
export async function listAllRoutes(db: SystemHandle): Promise<readonly RouteRow[]> {
  return db.selectFrom("routes").selectAll().execute();
}

/** Routes that the file manages, or a start without one. */
export async function listFileRoutes(
  tx: DatabaseTransaction,
): Promise<readonly Pick<RouteRow, "scope" | "id" | "managed_by">[]> {
  return tx
    .selectFrom("routes")
    .select(["scope", "id", "managed_by"])
    .where("managed_by", "in", FILE_MANAGERS)
    .execute();
}

export interface LargeRoute {
  /** The workspace's slug. Null: a shared route. */
  readonly workspace: string | null;
  readonly route: string;
  readonly targets: number;
}

/** Maximum number of routes to report. The rest is reported once these are fixed. */
const MAX_REPORTED = 20;

/** Published routes with more targets than are allowed now, largest first. */
export async function findLargeRoutes(db: Handle): Promise<readonly LargeRoute[]> {
  const { rows } = await sql<LargeRoute>`
    select workspace.slug as workspace, route.id as route, jsonb_array_length(route.definition -> 'targets') as targets
    from routes as route left join workspaces as workspace on workspace.id = route.scope
    where route.version is not null and jsonb_array_length(route.definition -> 'targets') > ${MAX_TARGETS}
    order by targets desc, route.id limit ${MAX_REPORTED}`.execute(db);
  return rows;
}

export async function readRouteVersion(
  db: Reading,
  { scope, id }: RouteName,
  version: number,
): Promise<RouteVersionRow | null> {
  const row = await db
    .selectFrom("route_versions")
    .selectAll()
    .where("scope", "=", scope)
    .where("route_id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  return row ?? null;
}

/** Newest first, below the version `before`. */
export async function listRouteVersions(
  db: Reading,
  { scope, id }: RouteName,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<readonly RouteVersionRow[]> {
  const rows = db
    .selectFrom("route_versions")
    .selectAll()
    .where("scope", "=", scope)
    .where("route_id", "=", id)
    .orderBy("version", "desc")
    .limit(limit);
  return (before === null ? rows : rows.where("version", "<", before)).execute();
}

export interface NewVersion {
  readonly definition: object;
  readonly managedBy: ManagedBy;
  /** Null: the configuration file. */
  readonly actorKeyId: KeyId | null;
}

/** Adds a draft, and creates the route with its first version. The caller holds the directory's lock. */
export async function addRouteVersion(tx: DatabaseTransaction, name: RouteName, draft: NewVersion): Promise<number> {
  const { scope, id } = name;
  // Higher than every earlier version, including those of a deleted route with this name.
  const { last } = await tx
    .selectFrom("route_versions")
    .select(({ fn }) => fn.max("version").as("last"))
    .where("scope", "=", scope)
    .where("route_id", "=", id)
    .executeTakeFirstOrThrow();
  const version = (last ?? 0) + 1;
  await tx
    .insertInto("route_versions")
    .values({
      scope,
      route_id: id,
      version,
      definition: JSON.stringify(draft.definition),
      actor_key_id: draft.actorKeyId,
    })
    .execute();
  const columns = { latest_version: version, managed_by: draft.managedBy };
  await tx
    .insertInto("routes")
    .values({ scope, id, definition: null, version: null, ...columns })
    .onConflict((conflict) =>
      conflict.columns(["scope", "id"]).doUpdateSet({ ...columns, updated_at: sql`patchbay_now()` }),
    )
    .execute();
  return version;
}

/** Publishes a version from the commit on. The version published before becomes the target of a roll-back. */
export async function publishRouteVersion(
  tx: DatabaseTransaction,
  { scope, id }: RouteName,
  version: number,
): Promise<void> {
  await tx
    .updateTable("route_versions")
    .set({ published_at: sql`patchbay_now()` })
    .where("scope", "=", scope)
    .where("route_id", "=", id)
    .where("version", "=", version)
    .where("published_at", "is", null)
    .execute();
  await sql`update routes set version = made.version, definition = made.definition, previous_version = routes.version,
      updated_at = patchbay_now()
    from route_versions made
    where made.scope = routes.scope and made.route_id = routes.id and made.version = ${version}
      and routes.scope = ${scope} and routes.id = ${id}`.execute(tx);
}

export async function setRouteManager(
  tx: DatabaseTransaction,
  { scope, id }: RouteName,
  managedBy: ManagedBy,
): Promise<void> {
  await tx
    .updateTable("routes")
    .set({ managed_by: managedBy })
    .where("scope", "=", scope)
    .where("id", "=", id)
    .execute();
}

export async function deleteRoute(tx: DatabaseTransaction, { scope, id }: RouteName): Promise<void> {
  await tx.deleteFrom("routes").where("scope", "=", scope).where("id", "=", id).execute();
}
