// Logs each budget that has reached its soft limit, once per window over all processes [budgets.soft-limit-log]. Budgets are checked on a timer, not at a
// settlement, so that no call waits for it.
import type { Logger } from "pino";
import type { Database } from "../storage/database.ts";
import { findReachedSoftLimits, markSoftLimit, type SoftLimitReached } from "./store/soft-limits.ts";
import { bypassRls } from "../storage/system.ts";
import { isSoftlyReached, metersOf } from "./budget.ts";
import { amountText } from "./amount-text.ts";
import { statesOf } from "./read-budgets.ts";

/** The mark is committed before the line is logged: a crash in between loses the line, but a line is never logged twice. */
export async function reportSoftLimits(database: Database, logger: Logger, stopping?: AbortSignal): Promise<void> {
  const sweepDatabase = bypassRls(database, "sweep");
  for (const id of await findReachedSoftLimits(sweepDatabase.db)) {
    if (stopping?.aborted === true) return;
    const reached = await sweepDatabase.transaction((tx) => markSoftLimit(tx, id));
    if (reached !== null) logReached(logger, reached);
  }
}

function logReached(logger: Logger, reached: SoftLimitReached): void {
  const meters = statesOf([reached], [reached]).flatMap((budget) =>
    metersOf(budget).filter((meter) => isSoftlyReached(meter, budget.softLimit)),
  );
  const { id, workspace, app, period, soft_limit: softLimit } = reached;
  logger.warn(
    {
      event: "budget.soft_limit_reached",
      budget_id: id,
      workspace,
      app,
      period,
      soft_limit: Number(softLimit),
      spent: meters.map((meter) => amountText(meter.kind, meter.spent)).join(", "),
      limit: meters.map((meter) => amountText(meter.kind, meter.limit ?? 0n)).join(", "),
    },
    "a budget reached its soft limit; at its limit, requests of its app are rejected",
  );
}
