// Warns of routes that were stored before routes had a maximum number of targets. They keep working.
import type { Logger } from "pino";
import { MAX_TARGETS } from "../contract/settings/route.ts";
import type { Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { findLargeRoutes } from "./store/routes.ts";

/** Logs one line per route at start. */
export async function warnOfLargeRoutes(database: Database, logger: Logger): Promise<void> {
  for (const { workspace, route, targets } of await findLargeRoutes(bypassRls(database, "installation").db))
    logger.warn(
      { workspace, route, detail: `${targets} targets`, limit: MAX_TARGETS },
      "a route has more targets than allowed: it keeps working, but cannot be changed until some are removed",
    );
}
