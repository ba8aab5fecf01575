// The interface through which a chat attempt reserves and settles its cost, from a row of the ledger or from a lease.
import type { Reservation, ReservationVerdict, SettlementResult, Settlement } from "../../metering/ledger-entries.ts";

export interface AttemptLedger {
  reserve(reservation: Reservation): Promise<ReservationVerdict>;
  settle(settlement: Settlement): SettlementResult | Promise<SettlementResult>;
}
