// The reasons for which a worker stops working on a job before it has ended, thrown as an error.

export type StopReason =
  /** Another attempt has the job: this one may write nothing more. */
  | "lost"
  /** The caller cancelled the job. */
  | "cancelled"
  /** All eligible targets are paused manually: the job is retried later. */
  | "paused"
  /** The app's rate limit of URL fetches is exhausted: the job is retried when there is room. */
  | "url_fetches"
  /** This process is shutting down: another worker continues polling, or resolves the aborted call. */
  | "handed_back";

export class JobStop extends Error {
  override readonly name = "JobStop";
  readonly reason: StopReason;
  /** Of `url_fetches`: minimum wait. */
  readonly waitSeconds: number;

  constructor(reason: StopReason, waitSeconds = 0) {
    super(`the job was abandoned: ${reason}`);
    this.reason = reason;
    this.waitSeconds = waitSeconds;
  }
}
