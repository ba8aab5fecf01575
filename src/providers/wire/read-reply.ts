// Maps an HTTP reply to parsed JSON or to a kind of failure, for every provider [providers.failure-kinds]. Of the provider's error text only recognisable error
// codes are kept [providers.failure-message].
import { isEncoded } from "../../lib/is-encoded.ts";
import { measureJson } from "../../lib/json/json-meter.ts";
import { ProviderError, type FailureKind } from "../io.ts";
import { type WireReply } from "./wire-reply.ts";
import { plainId } from "./plain-id.ts";
import { providerFailure } from "./provider-failure.ts";

/** A successful reply of speech or chat: parsed but untrusted. */
export interface JsonReply {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** Size of a buffered reply, which determines how long reading it takes. */
  readonly sizeBytes?: number;
}

/** Everything but a success is thrown as a `ProviderError`. */
export function readJsonReply(reply: WireReply, credential: string | null): JsonReply {
  if (reply.status < 200 || reply.status > 299) throw failedReply(reply, credential);
  if (isEncoded(reply.headers)) {
    throw new ProviderError("bad_reply", { status: reply.status, reason: "content_encoding" });
  }
  const body = parsedReply(reply);
  if (body === undefined) {
    if (reply.parsed === undefined) refuseHeavy(reply.text);
    const kind = BEGINNING_OF_JSON.test(reply.text) ? incompleteReplyKind(reply) : "bad_reply";
    throw new ProviderError(kind, { status: reply.status, reason: "not_json" });
  }
  if (isErrorBody(body)) {
    throw new ProviderError("bad_reply", {
      status: reply.status,
      reason: errorCode(body, credential) ?? "error_body",
      provider: providerFailure(reply, body, credential),
    });
  }
  return { body, headers: reply.headers, sizeBytes: sizeOf(reply) };
}

/** Slightly too low if characters take more than one byte. */
export function sizeOf({ parsed, text }: Pick<WireReply, "parsed" | "text">): number {
  return parsed?.sizeBytes ?? text.length;
}

/** An empty body matches too. */
const BEGINNING_OF_JSON = /^\s*(?:[[{]|$)/u;

/**
 * For a success without its end. If only the end of the connection ends a reply (RFC 9112, 6.3), HTTP cannot distinguish truncation from the end: the work may
 * have been done and billed.
 */
export function incompleteReplyKind({
  status,
  headers,
}: Pick<WireReply, "status" | "headers">): "unknown" | "bad_reply" {
  // A 204 has no body.
  const isFramed =
    status === 204 || headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
  return isFramed ? "bad_reply" : "unknown";
}

export function failedReply(reply: WireReply, credential: string | null): ProviderError {
  const body = parsedReply(reply);
  return new ProviderError(failureKind(reply.status, body), {
    status: reply.status,
    retryAfterSeconds: retryAfterSeconds(reply.headers) ?? googleRetryDelay(body),
    reason: errorCode(body, credential),
    provider: providerFailure(reply, body, credential),
  });
}

/** For an event in a stream that began as a success. Null: not an error. */
export function eventFailure(body: unknown, credential: string | null): ProviderError | null {
  if (!isErrorBody(body)) return null;
  const code = errorCode(body, credential);
  const provider = providerFailure({ status: 200, headers: {}, text: "" }, body, credential);
  return new ProviderError(KIND_OF_CODE.get(code ?? "") ?? "bad_reply", { reason: code ?? "error_event", provider });
}

/** Parses one event's JSON. Throws a failure of kind `broken` for invalid JSON, and the failure of an error event. */
export function eventBody(text: string, credential: string | null, broken: FailureKind): unknown {
  const body = parsedReply({ text });
  if (body === undefined) refuseHeavy(text);
  if (body === undefined) throw new ProviderError(broken, { reason: "not_json" });
  const failure = eventFailure(body, credential);
  if (failure !== null) throw failure;
  return body;
}

/** Providers' error codes and the kind of the equivalent status. */
const KIND_OF_CODE: ReadonlyMap<string, FailureKind> = new Map([
  ...kinds("server_error", ["overloaded_error", "api_error", "server_error", "INTERNAL", "UNAVAILABLE"]),
  ...kinds("rate_limited", ["rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"]),
  ...kinds("payment", ["billing_error", "insufficient_quota"]),
  ...kinds("unauthorized", ["authentication_error", "permission_error", "invalid_api_key", "PERMISSION_DENIED"]),
  ...kinds("rejected", ["invalid_request_error", "request_too_large", "context_length_exceeded", "INVALID_ARGUMENT"]),
  ...kinds("not_found", ["not_found_error", "model_not_found", "NOT_FOUND"]),
  ...kinds("unknown", ["timeout_error", "DEADLINE_EXCEEDED"]),
]);

function kinds(kind: FailureKind, codes: readonly string[]): readonly (readonly [string, FailureKind])[] {
  return codes.map((code) => [code, kind]);
}

function failureKind(status: number, body: unknown): FailureKind {
  switch (status) {
    case 401:
      return isOutOfCredit(body) ? "payment" : "unauthorized";
    case 403:
      return "unauthorized";
    case 402:
      return "payment";
    case 404:
      return "not_found";
    case 408:
    case 499:
    case 502:
    case 504:
      return "unknown";
    case 429:
      return isOutOfCredit(body) ? "payment" : "rate_limited";
    case 400:
      return isAccountFault(body) ? "unauthorized" : "rejected";
    case 411:
    case 413:
    case 414:
    case 415:
    case 422:
    case 431:
      return "rejected";
    // Includes redirects: they are not followed, and they contain no answer.
    default:
      return "server_error";
  }
}

function isOutOfCredit(body: unknown): boolean {
  const error = member(body, "error");
  return (
    member(error, "code") === "insufficient_quota" ||
    member(error, "type") === "insufficient_quota" ||
    // ElevenLabs reports this with 401.
    member(member(body, "detail"), "status") === "quota_exceeded"
  );
}

/** Google answers 400 to an invalid key, and to an account that may not be served (region, billing). */
function isAccountFault(body: unknown): boolean {
  const error = member(body, "error");
  return (
    member(error, "status") === "FAILED_PRECONDITION" ||
    googleDetails(body).some((detail) => member(detail, "reason") === "API_KEY_INVALID")
  );
}

/** Google reports the retry delay in the body: `"retryDelay":"37s"`. */
function googleRetryDelay(body: unknown): number | undefined {
  for (const detail of googleDetails(body)) {
    const delay = member(detail, "retryDelay");
    if (typeof delay === "string" && /^\d+(\.\d+)?s$/u.test(delay)) return clampRetryAfter(Number(delay.slice(0, -1)));
  }
  return undefined;
}

function googleDetails(body: unknown): readonly unknown[] {
  const details = member(member(body, "error"), "details");
  return Array.isArray(details) ? details : [];
}

/** OpenAI's envelope, which Anthropic and Google also use, Mistral's, Deepgram's three variants, ElevenLabs' detail. */
export function isErrorBody(body: unknown): boolean {
  if (member(body, "object") === "error") return true;
  const marks = ["error", "err_code", "err_msg", "error_code", "detail"].map((name) => member(body, name));
  return marks.some(isMeaningful);
}

/** Some servers always include the field and leave it empty on success. */
function isMeaningful(mark: unknown): boolean {
  if (typeof mark === "object" && mark !== null) return hasMembers(mark);
  return mark !== undefined && mark !== null && mark !== false && mark !== "";
}

function hasMembers(object: object): boolean {
  // Not through a list of keys: there may be a million.
  for (const name in object) if (Object.hasOwn(object, name)) return true;
  return false;
}

/** One word of letters: provider codes have no digits or spaces, keys nearly always have digits, and prose has spaces. */
const CODE = /^[A-Za-z]+(?:[_.-][A-Za-z]+){0,7}$/u;

function errorCode(body: unknown, credential: string | null): string | undefined {
  const error = member(body, "error");
  const candidates = [
    ...["code", "status", "type"].map((name) => member(error, name)),
    ...["status", "code", "type"].map((name) => member(member(body, "detail"), name)),
    ...["err_code", "error_code", "category", "type"].map((name) => member(body, name)),
  ];
  return candidates.find(
    (code): code is string =>
      typeof code === "string" &&
      code.length <= 64 &&
      CODE.test(code) &&
      (credential === null || !code.includes(credential)),
  );
}

/** At most an hour: with a longer delay the provider is simply unavailable, and the next request may try again. */
const MAX_RETRY_AFTER_SECONDS = 3600;

/** `retry-after-ms`, else `Retry-After` in seconds or as a date. An invalid value counts as absent. */
export function retryAfterSeconds(headers: WireReply["headers"], now: () => number = Date.now): number | undefined {
  const milliseconds = headers["retry-after-ms"];
  if (milliseconds !== undefined && /^\d+(\.\d+)?$/u.test(milliseconds))
    return clampRetryAfter(Number(milliseconds) / 1000);
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/u.test(value)) return clampRetryAfter(Number(value));
  const date = /^[A-Z][a-z]{2}, /u.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : clampRetryAfter((date - now()) / 1000);
}

function clampRetryAfter(seconds: number): number {
  return Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS);
}

/** The provider's own request id, for support. Only visible ASCII, because it goes to records and logs. */
export function requestIdOf(headers: WireReply["headers"], name: string): string | null {
  return plainId(headers[name]);
}

export { plainId };

/** An event or a message is processed in one event-loop step: with more values it takes 10 ms and more. */
const MAX_LIGHT_VALUES = 20_000;

/** For text that `parsedReply` did not parse: throws if it has too many values. */
export function refuseHeavy(text: string): void {
  const weight = measureJson(text, MAX_LIGHT_VALUES);
  if (weight !== "light") throw new ProviderError("bad_reply", { reason: weight });
}

/** Undefined: not JSON, or too many values. */
export function parsedReply({
  text,
  parsed,
  isLight = false,
}: Pick<WireReply, "text" | "parsed" | "isLight">): unknown {
  if (parsed !== undefined) return parsed.body;
  if (!isLight && measureJson(text, MAX_LIGHT_VALUES) !== "light") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
