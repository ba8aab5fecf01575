// Routes that were stored before a route had a largest number of targets: they keep working, and are reported.
import type { Logger } from "pino";
import { sql } from "kysely";
import { MAX_TARGETS } from "../contract/set-up/route.ts";
import type { Database } from "../storage/database.ts";
import { type Handle, installation } from "../storage/system.ts";

export interface LargeRoute {
  /** The workspace's slug; null: a shared route. */
  readonly workspace: string | null;
  readonly route: string;
  readonly targets: number;
}

/** Enough to act on; the rest is found once these are fixed. */
const MOST_REPORTED = 20;

export async function findLargeRoutes(db: Handle): Promise<readonly LargeRoute[]> {
  const { rows } = await sql<LargeRoute>`
    select workspace.slug as workspace, route.id as route, jsonb_array_length(route.definition -> 'targets') as targets
    from routes as route left join workspaces as workspace on workspace.id = route.scope
    where route.version is not null and jsonb_array_length(route.definition -> 'targets') > ${MAX_TARGETS}
    order by targets desc, route.id limit ${MOST_REPORTED}`.execute(db);
  return rows;
}

/** A line each in the log of a start. */
export async function warnOfLargeRoutes(database: Database, logger: Logger): Promise<void> {
  for (const { workspace, route, targets } of await findLargeRoutes(installation(database).db))
    logger.warn(
      { workspace, route, detail: `${targets} targets`, limit: MAX_TARGETS },
      "a route has more targets than a route may have: it keeps working, and cannot be changed until some are removed",
    );
}
