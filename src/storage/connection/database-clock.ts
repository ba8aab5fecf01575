// Uses the database's clock as the common clock of all processes on one server [storage.database-clock]. Otherwise a machine with a wrong clock
// by minutes would end jobs before their deadline and refuse links that other processes signed.
import { sql } from "kysely";
import type { Logger } from "pino";
import { createPeriodicTask } from "../../lib/concurrency/periodic-task.ts";
import type { Database } from "../database.ts";
import { bypassRls } from "../system.ts";

export interface DatabaseClock {
  now(): Date;
  stop(): Promise<void>;
}

const COMPARE_MS = 30_000;
/** Smaller offsets are ignored, because the query itself takes time, and NTP keeps clocks closer than can be measured here. */
const TOLERATED_MS = 1_000;

export async function followDatabaseClock(database: Database, logger: Logger): Promise<DatabaseClock> {
  let offByMs = 0;
  const compare = async (): Promise<void> => {
    const offsetMs = await measure(database);
    if (Math.abs(offsetMs - offByMs) <= TOLERATED_MS) return;
    offByMs = Math.abs(offsetMs) <= TOLERATED_MS ? 0 : offsetMs;
    logger.warn({ task: "compare clocks", ms: offByMs, event: "clock.off" });
  };
  await compare();
  const task = createPeriodicTask(COMPARE_MS, logger, "compare clocks", compare);
  return { now: () => new Date(Date.now() + offByMs), stop: () => task.stop() };
}

/** How far the database's clock is ahead. A slow answer proves little, so any offset within its duration counts as none. */
async function measure(database: Database): Promise<number> {
  const { db } = bypassRls(database, "server");
  const startedAtMs = Date.now();
  const { rows } = await sql<{ now: Date }>`select patchbay_now() as now`.execute(db);
  const endedAtMs = Date.now();
  const nowMs = rows[0]?.now.getTime() ?? startedAtMs;
  if (nowMs >= startedAtMs - TOLERATED_MS && nowMs <= endedAtMs + TOLERATED_MS) return 0;
  return Math.round(nowMs - (startedAtMs + endedAtMs) / 2);
}
