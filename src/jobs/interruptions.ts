// Errors that stop a worker's work on a job that has not ended: lease lost, job cancelled, targets paused, fetch limit, shutdown. `reason` is logged.

/** Another attempt has the job: this one may write nothing more. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  readonly reason = "lost";
}

/** The caller cancelled the job. */
export class JobCancelledError extends Error {
  override readonly name = "JobCancelledError";
  readonly reason = "cancelled";
}

/** All eligible targets are paused manually: the job is retried later. */
export class TargetsPausedError extends Error {
  override readonly name = "TargetsPausedError";
  readonly reason = "paused";
}

/** The app's rate limit of URL fetches is exhausted: the job is retried when there is room. */
export class FetchLimitError extends Error {
  override readonly name = "FetchLimitError";
  readonly reason = "url_fetches";
  /** Minimum. */
  readonly waitSeconds: number;

  constructor(waitSeconds: number) {
    super();
    this.waitSeconds = waitSeconds;
  }
}

/** This process is shutting down: another worker continues polling, or resolves the aborted call. */
export class WorkerStoppingError extends Error {
  override readonly name = "WorkerStoppingError";
  readonly reason = "handed_back";
}

export type JobInterruption =
  | LeaseLostError
  | JobCancelledError
  | TargetsPausedError
  | FetchLimitError
  | WorkerStoppingError;

const CLASSES = [LeaseLostError, JobCancelledError, TargetsPausedError, FetchLimitError, WorkerStoppingError];

export function isJobInterruption(error: unknown): error is JobInterruption {
  return CLASSES.some((each) => error instanceof each);
}
