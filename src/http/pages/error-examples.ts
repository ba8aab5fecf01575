// Completes the examples of the error stories to bodies as a gateway sends them, for the pages about errors and for the OpenAPI documents.
import type { ErrorBody } from "../../contract/error-body.ts";
import { ERROR_STORIES } from "../../contract/error-stories.ts";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import type { JobError, JobOnlyErrorCode } from "../../contract/jobs.ts";

const REQUEST_ID = "req_01kb1v35rm7q2d9w6h4x8t0n3c";
const GATEWAY = "https://gateway.example.com";

export function exampleError(code: ErrorCode): ErrorBody {
  const { message, param = null, details = null, retryable = ERRORS[code].retryable } = ERROR_STORIES[code].example;
  const { type } = ERRORS[code];
  const doc_url = `${GATEWAY}/docs/errors#${code}`;
  return { error: { code, type, message, param, retryable, request_id: REQUEST_ID, doc_url, details } };
}

/** `error` of a failed job. */
export function exampleJobError(code: JobOnlyErrorCode): JobError {
  const { message, param = null, details = null } = ERROR_STORIES[code].example;
  return { code, type: "api_error", message, param, retryable: true, details };
}
