// Reports routes that were stored before routes had a maximum number of targets. They keep working.
import type { Logger } from "pino";
import { sql } from "kysely";
import { MAX_TARGETS } from "../contract/set-up/route.ts";
import type { Database } from "../storage/database.ts";
import { type Handle, installation } from "../storage/system.ts";

export interface LargeRoute {
  /** The workspace's slug. Null: a shared route. */
  readonly workspace: string | null;
  readonly route: string;
  readonly targets: number;
}

/** Maximum number of routes to report. The rest is reported once these are fixed. */
const MAX_REPORTED = 20;

export async function findLargeRoutes(db: Handle): Promise<readonly LargeRoute[]> {
  const { rows } = await sql<LargeRoute>`
    select workspace.slug as workspace, route.id as route, jsonb_array_length(route.definition -> 'targets') as targets
    from routes as route left join workspaces as workspace on workspace.id = route.scope
    where route.version is not null and jsonb_array_length(route.definition -> 'targets') > ${MAX_TARGETS}
    order by targets desc, route.id limit ${MAX_REPORTED}`.execute(db);
  return rows;
}

/** Logs one line per route at start. */
export async function warnOfLargeRoutes(database: Database, logger: Logger): Promise<void> {
  for (const { workspace, route, targets } of await findLargeRoutes(installation(database).db))
    logger.warn(
      { workspace, route, detail: `${targets} targets`, limit: MAX_TARGETS },
      "a route has more targets than allowed: it keeps working, but cannot be changed until some are removed",
    );
}
