// What a call fails with: an error of the gateway [client.error-fields], or no answer that could be read.
import type { ErrorCode } from "../contract/errors.ts";
import type { JobErrorCode } from "../contract/jobs.ts";

/** Of this client's own: nobody there or the connection broke; time was up; a stream ended too early; it was no gateway that answered. */
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

/** Every failure of a call, but for an abort by the caller's own signal, whose reason is thrown as it is. */
export class PatchbayError extends Error {
  /** For programs: of the gateway's catalogue, of a job's end, or of this client. */
  readonly code: PatchbayErrorCode;
  /** Of the HTTP answer; null where a stream or a job ended with the error, or where there was no answer. */
  readonly status: number | null;
  /** Whether the same request, under the same `idempotencyKey`, may succeed later, and cannot be paid twice. */
  readonly retryable: boolean;
  /** When to try again at the earliest, where the gateway says so. */
  readonly retryAfterSeconds: number | null;
  /** The request's `X-Request-Id`: `patchbay.request(id)` tells why it went where it went. */
  readonly requestId: string | null;
  /** Where the code is explained. */
  readonly docUrl: string | null;
  /** The field, header or part at fault. */
  readonly param: string | null;
  /** Facts for programs, by code. */
  readonly details: Readonly<Record<string, unknown>> | null;
  /** The one that was sent: under it the request may be sent again later without being paid twice. */
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

/** No whole answer came; `code` tells a connection that failed, a stream that ended too early and a time-out apart. */
export class PatchbayConnectionError extends PatchbayError {
  declare readonly code: "CONNECTION_FAILED" | "TIMED_OUT" | "STREAM_INCOMPLETE";

  constructor(facts: ErrorFacts & { readonly code: PatchbayConnectionError["code"] }) {
    super(facts);
    this.name = "PatchbayConnectionError";
  }
}
