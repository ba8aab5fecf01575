// Leases of processes that died (contract 9): what they had not settled may have been used, so it counts as spent and is
// marked unresolved, for the operator to compare with the provider's bill.
import { closeLeases, lockLapsedLeases } from "../storage/budget-leases.ts";
import type { Transacting } from "../storage/database.ts";
import { releaseRemainder } from "./grow-lease.ts";

const MAX_SWEPT = 200;

export async function sweepLeases(tx: Transacting): Promise<number> {
  const lapsed = await lockLapsedLeases(tx, MAX_SWEPT);
  if (lapsed.length === 0) return 0;
  await releaseRemainder(tx, lapsed, "spent");
  await closeLeases(
    tx,
    lapsed.map((lease) => lease.id),
    true,
  );
  return lapsed.length;
}
