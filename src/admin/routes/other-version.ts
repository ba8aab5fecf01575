// Selects the version of a route that a dry run compares with the published one [admin.explain]: its draft, or a version given by number.
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { RouteVersionView } from "../../contract/admin/routes.ts";
import type { WorkspaceId } from "../../contract/ids.ts";
import { type DirectoryScope, PLATFORM, type RouteOfScope } from "../../directory/snapshot.ts";
import { storedRoute } from "../../directory/stored-schemas.ts";
import { readRoute, readRouteVersion } from "../../directory/store/routes.ts";
import type { Handle } from "../../storage/system.ts";
import { noSuch } from "../refusals.ts";
import { versionState } from "./route-view.ts";
import { readAs, type SetUpActor, type SetUpServices } from "../set-up-scope.ts";

export interface VersionChoice extends Pick<SetUpActor, "scope"> {
  /** Null: the route that serves the request. */
  readonly route: string | null;
  /** Null: the route's draft. */
  readonly version: number | null;
}

export interface OtherVersion extends RouteOfScope {
  readonly state: RouteVersionView["state"];
}

/** `workspace`: the caller's. Null: there is no draft, and no version was named. A workspace cannot select versions of shared routes. */
export async function otherVersion(
  services: Pick<SetUpServices, "database">,
  { scope, route, version }: VersionChoice,
  workspace: WorkspaceId,
  servingRoute: string | null,
): Promise<OtherVersion | null> {
  const id = route ?? servingRoute;
  if (id === null) {
    if (version === null) return null;
    throw invalidRequest("route", "route: this request uses no route, so name the route of the version.");
  }
  return readAs(services, { scope }, async (db) => {
    const row = await routeOf(db, scope === PLATFORM ? [workspace, PLATFORM] : [scope], id);
    if (row === null) {
      if (route === null && version === null) return null;
      throw noSuch("route");
    }
    const selected = await readRouteVersion(db, row, version ?? row.latest_version);
    if (selected === null) throw noSuch("version");
    const state = versionState(selected, row.version);
    if (version === null && state !== "draft") return null;
    return {
      scope: row.scope,
      id,
      version: selected.version,
      definition: storedRoute.parse(selected.definition),
      state,
    };
  });
}

/** Finds a route as a request of the workspace does: its own takes precedence over the shared one. */
async function routeOf(db: Handle, scopes: readonly DirectoryScope[], id: string) {
  for (const scope of scopes) {
    const row = await readRoute(db, { scope, id });
    if (row !== null) return row;
  }
  return null;
}
