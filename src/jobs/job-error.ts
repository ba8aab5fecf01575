// What a failed job says of its end (contract 5): a code of the catalogue, or one of the two that only jobs have.
import { ERRORS, type GatewayError } from "../contract/errors.ts";
import type { JobError, JobErrorCode } from "../contract/jobs.ts";

type JobOnlyCode = Exclude<JobErrorCode, keyof typeof ERRORS>;

/** An end that no synchronous request can come to. */
export class JobFailure extends Error {
  override readonly name = "JobFailure";
  readonly code: JobOnlyCode;

  constructor(code: JobOnlyCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function deadlineExceeded(): JobFailure {
  return new JobFailure("JOB_DEADLINE_EXCEEDED", "The job did not finish before its deadline. Nothing was charged.");
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
