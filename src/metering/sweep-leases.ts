// Sweeps leases of processes that died [metering.lease-crash]: what they had not settled may have been used, so it counts as spent and is
// marked unresolved, for the operator to compare with the provider's bill.
import { closeLeases, lockLapsedLeases } from "../storage/budget-leases.ts";
import type { Transacting } from "../storage/database.ts";
import { releaseRemainder } from "./grow-lease.ts";

const MAX_SWEPT = 200;

/** `held`: by this process, which lives. One that it does not know of, for its grant was made and never answered for, is swept. */
export async function sweepLeases(tx: Transacting, held: readonly string[] = []): Promise<number> {
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
