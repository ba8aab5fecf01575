// Lists all versions of a route [admin.route-versions]: the definition, when it was first published, and whether it is published now.
import type { RouteVersionView } from "../../contract/admin/routes.ts";
import { pageOf } from "../../lib/list-page.ts";
import { listRouteVersions, readRouteVersion } from "../../directory/store/routes.ts";
import { noSuch } from "../refusals.ts";
import { viewVersion } from "./route-view.ts";
import { find, type RouteChange } from "./routes.ts";
import type { Page, PageRequest } from "../services.ts";
import { readAs, type SetUpServices } from "../set-up-scope.ts";

type RouteName = Pick<RouteChange, "scope" | "id">;

export async function listVersionViews(
  services: SetUpServices,
  { scope, id, limit, after }: RouteName & PageRequest,
): Promise<Page<RouteVersionView>> {
  const before = after === null ? null : Number(after);
  const [route, rows] = await readAs(services, { scope }, async (db) => [
    await find(db, { scope, id }),
    await listRouteVersions(db, { scope, id }, { before, limit: limit + 1 }),
  ]);
  const { page, nextCursor } = pageOf(
    rows.map((row) => ({ ...row, id: String(row.version) })),
    limit,
  );
  return { data: page.map((row) => viewVersion(row, route.version)), end: nextCursor };
}

export async function describeVersion(
  services: SetUpServices,
  { version, ...routeName }: RouteName & { readonly version: number },
): Promise<RouteVersionView> {
  const [route, row] = await readAs(services, routeName, async (db) => [
    await find(db, routeName),
    await readRouteVersion(db, routeName, version),
  ]);
  if (row === null) throw noSuch("version");
  return viewVersion(row, route.version);
}
