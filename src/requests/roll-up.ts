// The house-keeping of usage (contract 9): attempts into the sums, and both gone after their retention, attempts only once they are
// in the sums.
import type { Logger } from "pino";
import { every } from "../lib/every.ts";
import type { Database } from "../storage/database.ts";
import { sweeps } from "../storage/system.ts";
import { purgeAttempts, purgeUsage, rollUsage } from "../storage/usage-hours.ts";

export interface RollUp {
  /** Everything that is certain by now is in the hours; at once after it, what has come since is one turn behind. */
  roll(): Promise<void>;
  /** Answers how many attempts and hours went. */
  purge(): Promise<number>;
  stop(): Promise<void>;
}

export interface RollUpOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** Attempts belong to the request log. */
  readonly requestDays: number;
  readonly usageDays: number;
}

/** What is not added up yet is read one by one, so it must stay little. */
const ROLL_EVERY_MS = 20_000;
const PURGE_EVERY_MS = 300_000;
const PURGE_BATCH = 5_000;

export function startRollUp({ database, logger, requestDays, usageDays }: RollUpOptions): RollUp {
  const roll = async (): Promise<void> => {
    while (await rollUsage(database));
  };
  const purge = async (): Promise<number> => {
    const attempts = await purgeAll(() => purgeAttempts(sweeps(database).db, requestDays, PURGE_BATCH));
    return attempts + (await purgeAll(() => purgeUsage(sweeps(database).db, usageDays, PURGE_BATCH)));
  };
  const roller = every(ROLL_EVERY_MS, logger, "add up usage", roll);
  const purger = every(PURGE_EVERY_MS, logger, "purge usage", async () => {
    await purge();
  });
  return {
    roll,
    purge,
    stop: async () => {
      await Promise.all([roller.stop(), purger.stop()]);
    },
  };
}

async function purgeAll(purgeBatch: () => Promise<number>): Promise<number> {
  let gone = 0;
  for (;;) {
    const batch = await purgeBatch();
    gone += batch;
    if (batch < PURGE_BATCH) return gone;
  }
}
