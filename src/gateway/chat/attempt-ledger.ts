// How one attempt of a chat reserves and settles its money.
import type { MaybePromise } from "../../lib/concurrency/maybe-promise.ts";
import type { Reservation, Reserved, Settled, Settlement } from "../../metering/ledger-entries.ts";

/** One that pays from what is held already answers at once. */
export interface AttemptLedger {
  reserve(reservation: Reservation): MaybePromise<Reserved>;
  settle(settlement: Settlement): MaybePromise<Settled>;
}
