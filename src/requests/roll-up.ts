// Adds attempts up into hourly sums and deletes both after their retention [usage.retention], attempts only once they are in the sums. Leases that paid for
// them and windows of budgets that have ended are deleted too.
import type { Logger } from "pino";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import { runInBatches } from "../lib/concurrency/run-in-batches.ts";
import { purgeLeases } from "../metering/store/budget-leases.ts";
import { purgeWindows } from "../metering/store/budget-windows.ts";
import type { Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { purgeAttempts, purgeUsage, rollUsage } from "./store/usage-hours.ts";

export interface RollUp {
  /** Resolves when all settled attempts are in the sums. Those settled just before may be added by the next run. */
  roll(): Promise<void>;
  stop(): Promise<void>;
}

export interface RollUpOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** Retention of attempts, which belong to the request log. */
  readonly requestDays: number;
  readonly usageDays: number;
}

/** Reports read attempts that are not yet in the sums one by one, so there must be few. */
const ROLL_EVERY_MS = 20_000;
const PURGE_EVERY_MS = 300_000;
const PURGE_BATCH = 5_000;

export function startRollUp({ database, logger, requestDays, usageDays }: RollUpOptions): RollUp {
  const rollUp = async (stopping?: AbortSignal): Promise<void> => {
    await runInBatches(1, async () => ((await rollUsage(database)) ? 1 : 0), stopping);
  };
  const roller = createPeriodicTask(ROLL_EVERY_MS, logger, "add up usage", rollUp);
  const purger = createPeriodicTask(PURGE_EVERY_MS, logger, "purge usage", async (stopping) => {
    const { db } = bypassRls(database, "sweep");
    await runInBatches(PURGE_BATCH, () => purgeAttempts(db, requestDays, PURGE_BATCH), stopping);
    await runInBatches(PURGE_BATCH, () => purgeLeases(db, { requestDays, usageDays }, PURGE_BATCH), stopping);
    await runInBatches(PURGE_BATCH, () => purgeUsage(db, usageDays, PURGE_BATCH), stopping);
    await runInBatches(PURGE_BATCH, () => purgeWindows(db, usageDays, PURGE_BATCH), stopping);
  });
  return {
    roll: () => rollUp(),
    stop: async () => {
      await Promise.all([roller.stop(), purger.stop()]);
    },
  };
}
