// The errors of a call: an error of the gateway [client.error-fields], or a missing or unreadable answer.
import type { ErrorCode } from "../contract/errors.ts";
import type { JobErrorCode } from "../contract/jobs.ts";

/** Codes of this client itself: no connection or a broken one, time limit exceeded, a stream that ended too early, an answer that is not from a gateway. */
export type ClientErrorCode = "CONNECTION_FAILED" | "TIMED_OUT" | "STREAM_INCOMPLETE" | "UNEXPECTED_ANSWER";
export type PatchbayErrorCode = ErrorCode | JobErrorCode | ClientErrorCode;

export interface ErrorFacts {
  readonly code: PatchbayErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly status?: number | undefined;
  readonly requestId?: string | null | undefined;
  readonly docUrl?: string | null | undefined;
  readonly param?: string | null | undefined;
  readonly details?: Readonly<Record<string, unknown>> | null | undefined;
  readonly retryAfterSeconds?: number | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
  readonly cause?: unknown;
}

/** Every failure of a call, except for an abort by the caller's own signal: its reason is thrown unchanged. */
export class PatchbayError extends Error {
  /** For programs: a code of the gateway's catalogue, of a failed job, or of this client. */
  readonly code: PatchbayErrorCode;
  /** HTTP status. Null if a stream or a job ended with the error, or there was no answer. */
  readonly status: number | null;
  /** Whether the same request under the same `idempotencyKey` may succeed later without being billed twice. */
  readonly retryable: boolean;
  /** Earliest time of a retry, if the gateway reports one. */
  readonly retryAfterSeconds: number | null;
  /** The request's `X-Request-Id`: `patchbay.request(id)` explains its routing. */
  readonly requestId: string | null;
  /** Documentation of the code. */
  readonly docUrl: string | null;
  /** The invalid field, header or part. */
  readonly param: string | null;
  /** Facts for programs, depending on the code. */
  readonly details: Readonly<Record<string, unknown>> | null;
  /** The key that was sent: under it the request may be repeated later without being billed twice. */
  readonly idempotencyKey: string | null;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.name = "PatchbayError";
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.retryable = facts.retryable;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.requestId = facts.requestId ?? null;
    this.docUrl = facts.docUrl ?? null;
    this.param = facts.param ?? null;
    this.details = facts.details ?? null;
    this.idempotencyKey = facts.idempotencyKey ?? null;
  }
}

/** No complete answer arrived; `code` distinguishes a broken connection, a truncated stream and a timeout. */
export class PatchbayConnectionError extends PatchbayError {
  declare readonly code: "CONNECTION_FAILED" | "TIMED_OUT" | "STREAM_INCOMPLETE";

  constructor(facts: ErrorFacts & { readonly code: PatchbayConnectionError["code"] }) {
    super(facts);
    this.name = "PatchbayConnectionError";
  }
}
