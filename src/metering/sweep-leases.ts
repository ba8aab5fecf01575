// Closes leases of processes that died [metering.lease-crash]. What they had not settled may have been used, so it counts as spent and is marked unresolved,
// for the operator to compare with the provider's bill.
import { closeLeases, lockLapsedLeases } from "./store/budget-leases.ts";
import type { SystemTransaction } from "../storage/database.ts";
import { releaseRemainder } from "./grow-lease.ts";

const MAX_SWEPT = 200;

/** `held`: leases of this process, which are skipped. A lease that this process does not know, because the response to its insert was lost, is swept. */
export async function sweepLeases(tx: SystemTransaction, held: readonly string[] = []): Promise<number> {
  const lapsed = await lockLapsedLeases(tx, MAX_SWEPT, held);
  if (lapsed.length === 0) return 0;
  await releaseRemainder(tx, lapsed, "spent");
  await closeLeases(
    tx,
    lapsed.map((lease) => lease.id),
    true,
  );
  return lapsed.length;
}
