// One clock for all processes on one server: the database's [storage.database-clock]. A machine whose own is off by minutes would end jobs
// before their deadline and refuse links that its neighbours signed.
import { sql } from "kysely";
import type { Logger } from "pino";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import type { Database } from "./database.ts";
import { engine } from "./system.ts";

export interface DatabaseClock {
  now(): Date;
  stop(): Promise<void>;
}

const COMPARE_MS = 30_000;
/** Less is left as it is: asking takes time, and clocks that are set over the network agree better than can be measured here. */
const TOLERATED_MS = 1_000;

export async function followDatabaseClock(database: Database, logger: Logger): Promise<DatabaseClock> {
  let offByMs = 0;
  const compare = async (): Promise<void> => {
    const measured = await measure(database);
    if (Math.abs(measured - offByMs) <= TOLERATED_MS) return;
    offByMs = Math.abs(measured) <= TOLERATED_MS ? 0 : measured;
    logger.warn({ task: "compare clocks", ms: offByMs, event: "clock.off" });
  };
  await compare();
  const comparing = createPeriodicTask(COMPARE_MS, logger, "compare clocks", compare);
  return { now: () => new Date(Date.now() + offByMs), stop: () => comparing.stop() };
}

/** By how much the database's clock is ahead. An answer that took long says little, and is taken for agreement within that time. */
async function measure(database: Database): Promise<number> {
  const { db } = engine(database);
  const askedMs = Date.now();
  const { rows } = await sql<{ now: Date }>`select patchbay_now() as now`.execute(db);
  const answeredMs = Date.now();
  const nowMs = rows[0]?.now.getTime() ?? askedMs;
  if (nowMs >= askedMs - TOLERATED_MS && nowMs <= answeredMs + TOLERATED_MS) return 0;
  return Math.round(nowMs - (askedMs + answeredMs) / 2);
}
