// Reserves and settles the cost of one chat attempt.
import type { Reservation, Reserved, Settled, Settlement } from "../../metering/ledger-entries.ts";

export interface AttemptLedger {
  reserve(reservation: Reservation): Promise<Reserved>;
  settle(settlement: Settlement): Settled | Promise<Settled>;
}
