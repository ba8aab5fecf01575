// Parses the gateway's errors: the body of an error response, or the `error` event of a stream [client.error-fields].
import type { ErrorBody } from "../contract/error-body.ts";
import { PatchbayError } from "./errors.ts";

/** Statuses that a proxy returns while the gateway is unavailable. */
const GATEWAY_AWAY = new Set([502, 503, 504]);

interface Refused {
  readonly idempotencyKey: string | null;
  readonly isPaidEachTime?: boolean;
}

export async function readRefusal(
  response: Response,
  { idempotencyKey, isPaidEachTime }: Refused,
): Promise<PatchbayError> {
  const { status, headers } = response;
  const text = await response.text();
  const shouldRetry = headers.get("x-should-retry");
  const error = errorIn(text);
  // Without an answer of the gateway, it is unknown whether the request ran.
  const isAway = error === null && GATEWAY_AWAY.has(status) && isPaidEachTime !== true;
  return new PatchbayError({
    ...(error === null ? unexpectedReply(response) : factsOf(error)),
    // Three sources of one value, because a proxy may have removed the header or the body.
    retryable: shouldRetry === null ? isAway || error?.retryable === true : shouldRetry === "true",
    status,
    requestId: headers.get("x-request-id") ?? error?.request_id ?? null,
    retryAfterSeconds: secondsUntil(headers.get("retry-after")),
    idempotencyKey,
  });
}

/** The gateway sends seconds; a proxy may send a date. */
function secondsUntil(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const seconds = Math.ceil((Date.parse(retryAfter) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? null : Math.max(seconds, 0);
}

/** From a stream's `error` event. The stream had no idempotency key, so a retry may be billed again. */
export function streamedError(data: string, requestId: string | null): PatchbayError {
  const error = errorIn(data);
  if (error !== null) return new PatchbayError({ ...factsOf(error), requestId: error.request_id ?? requestId });
  const message = "The stream ended with an unknown error.";
  return new PatchbayError({ code: "UNEXPECTED_ANSWER", message, retryable: false, requestId });
}

/** The error for a success status with an unreadable body. */
export function unexpectedReply({ status, url }: Response): {
  readonly code: "UNEXPECTED_ANSWER";
  readonly message: string;
} {
  const where = url === "" ? "there" : `at ${new URL(url).origin}`;
  return { code: "UNEXPECTED_ANSWER", message: `The answer was ${status} and not a gateway's; is there one ${where}?` };
}

function factsOf({ code, message, retryable, doc_url: docUrl, param, details }: ErrorBody["error"]) {
  return { code, message, retryable, docUrl, param, details };
}

/** An error of a gateway has a code and a message; newer versions may add fields. */
function errorIn(text: string): ErrorBody["error"] | null {
  try {
    const { error } = JSON.parse(text) as ErrorBody;
    return typeof error.code === "string" && typeof error.message === "string" ? error : null;
  } catch {
    return null;
  }
}
