// The error of a failed job: a code of the error catalogue, or one of two codes that only jobs have.
import { ERRORS, GatewayError } from "../contract/errors.ts";
import type { JobError, JobErrorCode } from "../contract/jobs.ts";
import { outcomeUnknown } from "../gateway/calls/judge-failure.ts";
import type { JobCall } from "./store/claimed-jobs.ts";

type JobOnlyCode = Exclude<JobErrorCode, keyof typeof ERRORS>;

/** A failure that no synchronous request can have. */
export class JobFailure extends Error {
  override readonly name = "JobFailure";
  readonly code: JobOnlyCode;

  constructor(code: JobOnlyCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The error of a job after its deadline. A call that was in flight may have been executed and paid. */
export function deadlinePassed(callState: JobCall["state"] | null): GatewayError | JobFailure {
  if (callState === null || callState === "reserved")
    return new JobFailure("JOB_DEADLINE_EXCEEDED", "The job did not finish before its deadline. Nothing was charged.");
  return unknownOutcome("The job's deadline passed while a call to a provider was in progress.");
}

/** A call that exceeds its timeout has an unknown outcome. It is never PROVIDER_TIMEOUT, because a job waits for its provider as long as it may. */
export function jobOutcomeUnknown(how: "unknown" | "timeout", wasFollowed = false): GatewayError {
  return how === "timeout"
    ? unknownOutcome("The provider did not answer within the timeout of its connection.")
    : outcomeUnknown(how, { wasFollowed });
}

function unknownOutcome(what: string): GatewayError {
  return new GatewayError("PROVIDER_RESULT_UNKNOWN", {
    message: `${what} Whether it did the work is unknown; nothing was charged, and the job is not run again.`,
  });
}

export function jobErrorOf(error: GatewayError | JobFailure): JobError {
  if (error instanceof JobFailure) {
    const { code, message } = error;
    return { code, type: "api_error", message, param: null, retryable: true, details: null };
  }
  const { code, message, param, retryable, details } = error;
  return {
    code,
    type: ERRORS[code].type,
    message,
    param,
    retryable,
    details: details === null ? null : { ...details },
  };
}
