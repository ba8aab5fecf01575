// Reserves and settles the cost of one chat attempt.
import type { Reservation, ReservationVerdict, SettlementResult, Settlement } from "../../metering/ledger-entries.ts";

export interface AttemptLedger {
  reserve(reservation: Reservation): Promise<ReservationVerdict>;
  settle(settlement: Settlement): SettlementResult | Promise<SettlementResult>;
}
