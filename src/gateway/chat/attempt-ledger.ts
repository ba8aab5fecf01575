// Reserves and settles the cost of one chat attempt.
import type { MaybePromise } from "../../lib/concurrency/maybe-promise.ts";
import type { Reservation, ReservationVerdict, SettlementResult, Settlement } from "../../metering/ledger-entries.ts";

/** An implementation that pays from a lease of this process returns without a promise. */
export interface AttemptLedger {
  reserve(reservation: Reservation): MaybePromise<ReservationVerdict>;
  settle(settlement: Settlement): MaybePromise<SettlementResult>;
}
