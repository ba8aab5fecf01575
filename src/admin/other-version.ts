// The version of a route that is explained next to the published one [admin.explain]: its draft, or the one that is named.
import { invalidRequest } from "../contract/invalid-request.ts";
import type { RouteVersionView } from "../contract/routes.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import { type DirectoryScope, PLATFORM, type RouteOfScope } from "../directory/snapshot.ts";
import { storedRoute } from "../directory/stored.ts";
import { readRoute, readRouteVersion } from "../storage/routes.ts";
import type { Handle } from "../storage/system.ts";
import { noSuch } from "./refusals.ts";
import { versionState } from "./route-view.ts";
import { readAs, type SetUpActor, type SetUpServices } from "./set-up-scope.ts";

export interface VersionChoice extends Pick<SetUpActor, "scope"> {
  /** Null: the one that serves the request. */
  readonly route: string | null;
  /** Null: its draft. */
  readonly version: number | null;
}

export interface OtherVersion extends RouteOfScope {
  readonly state: RouteVersionView["state"];
}

/** `workspace`: whose request it is. Null: there is none that was not named. A platform's route is not a workspace's to look into. */
export async function otherVersion(
  services: Pick<SetUpServices, "database">,
  { scope, route, version }: VersionChoice,
  workspace: WorkspaceId,
  serving: string | null,
): Promise<OtherVersion | null> {
  const id = route ?? serving;
  if (id === null) {
    if (version === null) return null;
    throw invalidRequest("route", "route: this request runs on no route, so say which one the version is of.");
  }
  return readAs(services, { scope }, async (db) => {
    const row = await routeOf(db, scope === PLATFORM ? [workspace, PLATFORM] : [scope], id);
    if (row === null) {
      if (route === null && version === null) return null;
      throw noSuch("route");
    }
    const wanted = await readRouteVersion(db, row, version ?? row.latest_version);
    if (wanted === null) throw noSuch("version");
    const state = versionState(wanted, row.version);
    if (version === null && state !== "draft") return null;
    return { scope: row.scope, id, version: wanted.version, definition: storedRoute.parse(wanted.definition), state };
  });
}

/** As a request of the workspace finds it: its own stands before the platform's. */
async function routeOf(db: Handle, scopes: readonly DirectoryScope[], id: string) {
  for (const scope of scopes) {
    const row = await readRoute(db, { scope, id });
    if (row !== null) return row;
  }
  return null;
}
