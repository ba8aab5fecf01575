// Deletes old deliveries, and causes that are no longer quiet.
import { runInBatches } from "../lib/concurrency/run-in-batches.ts";
import type { Database, systemAccess } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { purgeCauses } from "./store/alert-causes.ts";
import { purgeAlertDeliveries } from "./store/alert-deliveries.ts";

const KEPT_DAYS = 7;
const BATCH = 500;

export async function sweepAlerts(
  database: Pick<Database, typeof systemAccess>,
  stopping?: AbortSignal,
): Promise<void> {
  const { db } = bypassRls(database, "sweep");
  await runInBatches(BATCH, () => purgeAlertDeliveries(db, KEPT_DAYS, BATCH), stopping);
  await runInBatches(BATCH, () => purgeCauses(db, BATCH), stopping);
}
