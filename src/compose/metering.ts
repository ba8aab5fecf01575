// Composes for `compose/app.ts` what requests store in the database: reservations, leases, idempotency slots, records and quota counts.
import type { Logger } from "pino";
import type { Configuration } from "../config/configuration.ts";
import { createIdempotency } from "../gateway/idempotency/idempotency.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import type { DirtyTask } from "../lib/concurrency/dirty-task.ts";
import { createLeases } from "../metering/leases.ts";
import { createLedger } from "../metering/ledger.ts";
import { reportSoftLimits } from "../metering/report-soft-limits.ts";
import type { Telemetry } from "./telemetry.ts";
import { createQuotas } from "../quotas/quotas.ts";
import { createSharedCounters } from "../quotas/shared-counters.ts";
import { createRequestLog } from "../requests/log.ts";
import { startRollUp } from "../requests/roll-up.ts";
import { sweepPauses } from "../directory/store/connection-pauses.ts";
import type { Database } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";

/** Interval of the sweeps that expire old rows. */
export const SWEEP_MS = 10_000;
/** A soft limit leaves hours to react, so a minute is often enough. */
const LOOK_AT_BUDGETS_MS = 60_000;

interface AccountsOptions {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly seal: Seal;
  readonly logger: Logger;
  readonly vacuum: Pick<DirtyTask, "markDirty">;
}

export function openAccounts(
  { configuration, database, seal, logger, vacuum }: AccountsOptions,
  nowMs: () => number,
  metrics: Pick<Telemetry, "recorded">,
) {
  const leases = createLeases({
    database,
    onError: (error) => logger.error({ task: "settle", err: error }, "could not settle or renew leases; retrying"),
  });
  const ledger = createLedger({ database, seal, reclaimer: leases.reclaimer, nowMs });
  const idempotency = createIdempotency({
    database,
    seal,
    ttlSeconds: configuration.limits.syncIdempotencyTtlSeconds,
    onRenewalError: (error) => logger.error({ task: "renew slots", err: error }, "could not renew slots; retrying"),
  });
  const { requestDays, usageDays } = configuration.retention;
  const requestLog = createRequestLog({ database, logger, keptDays: requestDays, nowMs, onRecord: metrics.recorded });
  const rollUp = startRollUp({ database, logger, requestDays, usageDays });
  const quotas = createQuotas(
    createSharedCounters({
      database,
      onError: (error) => logger.error({ task: "clear quotas", err: error }, "could not clear unused quotas"),
    }),
    configuration.limits,
  );
  // Separate tasks: one that keeps failing does not delay the others.
  const sweeps = [
    createPeriodicTask(SWEEP_MS, logger, "sweep idempotency slots", async (stopping) => {
      if ((await idempotency.sweep(stopping)).purged > 0) vacuum.markDirty();
    }),
    createPeriodicTask(SWEEP_MS, logger, "sweep reservations", () => ledger.sweepReservations()),
    createPeriodicTask(SWEEP_MS, logger, "sweep pauses", () => sweepPauses(database)),
    createPeriodicTask(SWEEP_MS, logger, "sweep leases", () => leases.sweep()),
    createPeriodicTask(LOOK_AT_BUDGETS_MS, logger, "report soft limits", (stopping) =>
      reportSoftLimits(database, logger, stopping),
    ),
  ];
  return {
    ledger,
    leases,
    idempotency,
    quotas,
    requestLog,
    rollUp,
    records: {
      open: requestLog.open,
      /** A failed write is retried later; the caller reads what is stored. */
      written: async (requestId: string): Promise<void> => {
        await Promise.allSettled([leases.written(requestId), requestLog.written(requestId)]);
      },
    },
    stopSweeps: async (): Promise<void> => {
      await Promise.all([...sweeps, rollUp].map((each) => each.stop()));
    },
    close: async (): Promise<void> => {
      // Usage that cannot be written now is counted as spent when its leases expire.
      await leases
        .close()
        .catch((error: unknown) => logger.error({ task: "settle", err: error }, "could not settle leases"));
      await quotas.close();
      await requestLog.close();
      idempotency.close();
    },
  };
}
