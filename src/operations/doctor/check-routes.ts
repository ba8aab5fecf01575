// `patchbay doctor`, checks of routes: finds stored routes with more targets than the current limit.
import { MAX_TARGETS } from "../../contract/settings/route.ts";
import { findLargeRoutes } from "../../directory/store/routes.ts";
import type { SystemHandle } from "../../storage/database.ts";
import { type Finding, ok, warn } from "./finding.ts";

export async function checkRoutes(db: SystemHandle): Promise<readonly Finding[]> {
  const large = await findLargeRoutes(db);
  if (large.length === 0) return [ok("routes", `none has more than ${MAX_TARGETS} targets`)];
  return large.map(({ workspace, route, targets }) =>
    warn(
      "routes",
      `route ${route}${workspace === null ? "" : ` of workspace ${workspace}`} has ${targets} targets, more than the limit of ${MAX_TARGETS}`,
      `remove targets until ${MAX_TARGETS} remain; until then the route works but cannot be edited`,
    ),
  );
}
