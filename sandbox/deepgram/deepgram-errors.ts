// Builds Deepgram's error bodies. The field is spelt `error_code` as in the 503 example of its documentation.
import { jsonAnswer, type WireAnswer } from "../wire/wire.ts";

const CODES: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ["Bad Request", "Bad Request: failed to process audio: corrupt or unsupported data"],
  401: ["INVALID_AUTH", "Invalid credentials."],
  402: [
    "ASR_PAYMENT_REQUIRED",
    "Project does not have enough credits for an ASR request and does not have an overage agreement.",
  ],
  403: ["INSUFFICIENT_PERMISSIONS", "Project does not have access to the requested model."],
  404: ["NOT_FOUND", "Not found."],
  408: ["REQUEST_TIMEOUT", "Request timed out."],
  413: ["PAYLOAD_TOO_LARGE", "Request body exceeds the 2 GB limit."],
  429: ["TOO_MANY_REQUESTS", "Too many requests. Please try again later."],
  503: ["SERVICE_UNAVAILABLE", "The service is currently unavailable."],
  504: ["GATEWAY_TIMEOUT", "The request took too long to process."],
};

export function deepgramError(status: number, code: string, message: string, requestId: string): WireAnswer {
  const name = status === 503 ? "error_code" : "err_code";
  return jsonAnswer(status, { [name]: code, err_msg: message, request_id: requestId }, { "dg-request-id": requestId });
}

export function errorForStatus(status: number, requestId: string): WireAnswer {
  const [code, message] = CODES[status] ?? ["INTERNAL_SERVER_ERROR", "An internal error occurred."];
  return deepgramError(status, code, message, requestId);
}
