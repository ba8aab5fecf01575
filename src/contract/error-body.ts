// Schemas of the single error body of all endpoints [errors.one-body], and of its RFC 9457 form [errors.problem-json].
import { z } from "zod";
import { ERROR_TYPES, ERRORS, type ErrorCode } from "./errors.ts";

const CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

const code = z.enum(CODES).describe("Stable, for programs; `doc_url` links to its documentation.");
const errorType = z.enum(ERROR_TYPES).describe("Family of the code.");
const message = z.string().min(1).describe("For people: what is wrong, the limit, and what to do.");
const param = z.string().nullable().describe("The invalid field, header or part.");
const retryable = z.boolean().describe("Whether the same request may succeed later; equals `X-Should-Retry`.");
const requestId = z
  .string()
  .regex(/^req_[0-9a-z]{26}$/)
  .describe("Equals `X-Request-Id`.");
const details = z.record(z.string(), z.unknown()).nullable().describe("Facts for programs, depending on the code.");

export const errorBody = z
  .strictObject({
    error: z.strictObject({
      code,
      type: errorType,
      message,
      param,
      retryable,
      request_id: requestId,
      doc_url: z.url(),
      details,
    }),
  })
  .describe("An error.");
export type ErrorBody = z.infer<typeof errorBody>;

/** Sent if `Accept` asks for `application/problem+json`. */
export const problemBody = z
  .strictObject({
    type: z.url().describe("Documentation of the code."),
    title: z.string().describe("The code's HTTP status in words."),
    status: z.int(),
    detail: message,
    code,
    error_type: errorType,
    param,
    retryable,
    request_id: requestId,
    details,
  })
  .describe("An error in RFC 9457 format.");
export type ProblemBody = z.infer<typeof problemBody>;
