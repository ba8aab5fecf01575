// Why a worker stops working on a job before it has ended, thrown through whatever it was doing.

export type StopReason =
  /** Another attempt has the job: nothing of this one may be written. */
  | "lost"
  /** Its caller wants no more of it. */
  | "cancelled"
  /** All that could serve it is paused by hand: it is looked at again later. */
  | "paused"
  /** Its app has fetched as many URLs as it may for now: it is looked at again when there is room. */
  | "url_fetches"
  /** This process stops: another worker polls on, or judges what was cut short. */
  | "handed_back";

export class JobStop extends Error {
  override readonly name = "JobStop";
  readonly reason: StopReason;
  /** Of `url_fetches`: so long at least. */
  readonly waitSeconds: number;

  constructor(reason: StopReason, waitSeconds = 0) {
    super(`the job was left: ${reason}`);
    this.reason = reason;
    this.waitSeconds = waitSeconds;
  }
}
