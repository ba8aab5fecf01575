// Why a worker leaves a job alone before it has ended (contract 5), thrown through whatever it was doing.

export type StopReason =
  /** Another attempt has the job: nothing of this one may be written. */
  | "lost"
  /** Its caller wants no more of it. */
  | "cancelled"
  /** All that could serve it is paused by hand: it is looked at again later. */
  | "paused"
  /** This process stops: another worker polls on, or judges what was cut short. */
  | "handed_back";

export class JobStop extends Error {
  override readonly name = "JobStop";
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the job was left: ${reason}`);
    this.reason = reason;
  }
}
