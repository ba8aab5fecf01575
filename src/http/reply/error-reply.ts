// Converts an error to an HTTP response, the only place that does: one body, three forms of `retryable`, a fixed 500 for unknown errors
// [errors.one-body] [errors.retryable-views] [errors.internal-fixed].
import { STATUS_CODES } from "node:http";
import { ERRORS, type ErrorCode, GatewayError } from "../../contract/errors.ts";
import type { ErrorBody, ProblemBody } from "../../contract/error-body.ts";
import type { RequestId } from "../../contract/ids.ts";
import { changeUnconfirmed, isDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";

export interface ErrorReplyContext {
  readonly requestId: RequestId;
  readonly publicUrl: string;
  /** The client's `Accept`, which may request RFC 9457. */
  readonly accept: string | undefined;
}

export interface ErrorReply {
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The response to any error. Details of an error that is not a `GatewayError` are never exposed. */
export function errorReply(error: unknown, context: ErrorReplyContext): ErrorReply {
  const gatewayError = gatewayErrorOf(error);
  const problem = wantsProblem(context.accept);
  const headers: Record<string, string> = {
    ...gatewayError.headers,
    "content-type": problem ? "application/problem+json; charset=utf-8" : "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-request-id": context.requestId,
    "x-should-retry": String(gatewayError.retryable),
  };
  if (gatewayError.retryAfterSeconds !== null)
    headers["retry-after"] = String(Math.max(0, Math.ceil(gatewayError.retryAfterSeconds)));
  if (gatewayError.code === "UNAUTHENTICATED") headers["www-authenticate"] = "Bearer";
  const body = problem ? toProblem(gatewayError, context) : toErrorBody(gatewayError, context);
  return { status: gatewayError.status, code: gatewayError.code, headers, body: JSON.stringify(body) };
}

export function toErrorBody(error: GatewayError, context: Omit<ErrorReplyContext, "accept">): ErrorBody {
  return {
    error: {
      code: error.code,
      type: ERRORS[error.code].type,
      message: error.message,
      param: error.param,
      retryable: error.retryable,
      request_id: context.requestId,
      doc_url: docUrl(error.code, context.publicUrl),
      details: error.details === null ? null : { ...error.details },
    },
  };
}

function toProblem(error: GatewayError, context: ErrorReplyContext): ProblemBody {
  return {
    type: docUrl(error.code, context.publicUrl),
    title: STATUS_CODES[error.status] ?? "Error",
    status: error.status,
    detail: error.message,
    code: error.code,
    error_type: ERRORS[error.code].type,
    param: error.param,
    retryable: error.retryable,
    request_id: context.requestId,
    details: error.details === null ? null : { ...error.details },
  };
}

/** A database that becomes unavailable is not an internal error. Whether the change was made is unknown here; code that knows throws its own error. */
export function gatewayErrorOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return isDatabaseUnavailable(error) ? changeUnconfirmed(error) : internalError(error);
}

/** Contains no details of the cause, which is only logged. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError("INTERNAL", {
    message: "An internal error of the gateway. Report it with the request id.",
    cause,
  });
}

function docUrl(code: ErrorCode, publicUrl: string): string {
  return `${publicUrl.replace(/\/+$/, "")}/docs/errors#${code}`;
}

function wantsProblem(accept: string | undefined): boolean {
  return /(?:^|,)\s*application\/problem\+json\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|,|$)/i.test(accept ?? "");
}
