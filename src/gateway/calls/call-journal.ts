// The interface to what must be durable around a provider call. Requests and jobs run alike and differ in its implementations, `idempotency/slot-journal.ts`
// and `jobs/run/call-journal.ts`.
import type { AttemptId } from "../../contract/ids.ts";
import type { Reservation, Settlement } from "../../metering/ledger-entries.ts";
import type { RemoteRun } from "../../providers/io.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { FailedAttempt } from "./judge-failure.ts";

/** What must be durable around a call. A method throws the error that ends the run. */
export interface CallJournal {
  /** Commits before the first byte is sent. Returns the id of the attempt, which differs from the given one if an attempt was reserved earlier. */
  reserve(reservation: Reservation): Promise<AttemptId>;
  /** Commits that the call is made, before the first byte of a request that is not free. */
  announce?(): Promise<void>;
  /** Called when the first byte of a request that is not free is sent. */
  dispatched?(): void;
  /** Ends an attempt that returned an unused answer. */
  settle(settlement: Settlement, failure: FailedAttempt): Promise<void>;
  /** Ends an attempt of which nothing was sent. Missing: nothing may be reserved before it is ready to be sent. */
  withdraw?(settlement: Settlement): Promise<void>;
  /** Sets a doubtful answer aside while another target is called: its attempt stays open, and its target is not called again. */
  setAside(failure: FailedAttempt): Promise<void>;
  /** Ends an attempt that was set aside without returning its answer. */
  drop(settlement: Settlement): Promise<void>;
  /**
   * Commits before the first poll that the provider keeps data of the run, which has to be deleted there. Also called for providers that answer at once and
   * keep a copy; those have no `remote`.
   */
  recordRemoteRun(candidate: Candidate, remote: RemoteRun, part: "whole" | "piece"): Promise<void>;
}
