// From an HTTP reply to parsed JSON or to the kind of its failure, in one place for every provider (contract 1,
// "Definite and unknown outcomes"). Nothing a provider wrote passes through but codes that are clearly codes.
import { ProviderError, type FailureKind, type WireReply } from "./io.ts";
import type { RawTranscript } from "./provider.ts";

/** A success as parsed JSON; everything else is thrown as a `ProviderError`. */
export function readJsonReply(reply: WireReply, credential: string | null): RawTranscript {
  if (reply.status < 200 || reply.status > 299) throw failedReply(reply, credential);
  const encoding = reply.headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new ProviderError("bad_reply", { status: reply.status, reason: "content_encoding" });
  }
  const body = parsedReply(reply);
  if (body === undefined) throw new ProviderError("bad_reply", { status: reply.status, reason: "not_json" });
  if (isErrorBody(body)) {
    throw new ProviderError("bad_reply", { status: reply.status, reason: errorCode(body, credential) ?? "error_body" });
  }
  return { body, headers: reply.headers };
}

function failedReply(reply: WireReply, credential: string | null): ProviderError {
  const body = parsedReply(reply);
  return new ProviderError(failureKind(reply.status, body), {
    status: reply.status,
    retryAfterSeconds: retryAfterSeconds(reply.headers),
    reason: errorCode(body, credential),
  });
}

function failureKind(status: number, body: unknown): FailureKind {
  switch (status) {
    case 401:
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
    case 411:
    case 413:
    case 415:
    case 422:
      return "rejected";
    // Redirects included: they are not followed, and they answer nothing.
    default:
      return "server_error";
  }
}

function isOutOfCredit(body: unknown): boolean {
  const error = member(body, "error");
  return member(error, "code") === "insufficient_quota" || member(error, "type") === "insufficient_quota";
}

/** OpenAI's envelope, and Deepgram's three spellings. */
function isErrorBody(body: unknown): boolean {
  const marks = ["error", "err_code", "err_msg", "error_code"].map((name) => member(body, name));
  return marks.some((mark) => mark !== undefined && mark !== null && mark !== false);
}

/** One word of letters: provider codes have no digits or spaces; keys nearly always have digits, and prose has spaces. */
const CODE = /^[A-Za-z]+(?:[_.-][A-Za-z]+){0,7}$/u;

function errorCode(body: unknown, credential: string | null): string | undefined {
  const error = member(body, "error");
  const candidates = [
    ...["code", "type"].map((name) => member(error, name)),
    ...["err_code", "error_code", "category"].map((name) => member(body, name)),
  ];
  return candidates.find(
    (code): code is string =>
      typeof code === "string" &&
      code.length <= 64 &&
      CODE.test(code) &&
      (credential === null || !code.includes(credential)),
  );
}

/** Never longer than an hour: a provider that says more is simply resting, and the next request may ask again. */
const MAX_RETRY_AFTER_SECONDS = 3600;

/** `retry-after-ms`, else `Retry-After` in seconds or as a date; nonsense counts as absent. */
export function retryAfterSeconds(headers: WireReply["headers"], now: () => number = Date.now): number | undefined {
  const milliseconds = headers["retry-after-ms"];
  if (milliseconds !== undefined && /^\d+(\.\d+)?$/u.test(milliseconds)) return bounded(Number(milliseconds) / 1000);
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/u.test(value)) return bounded(Number(value));
  const date = /^[A-Z][a-z]{2}, /u.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : bounded((date - now()) / 1000);
}

function bounded(seconds: number): number {
  return Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS);
}

/** The provider's own id of the exchange, for support; visible ASCII only, as it ends up in records and logs. */
export function requestIdOf(headers: WireReply["headers"], name: string): string | null {
  const id = headers[name];
  return id !== undefined && /^[\x21-\x7e]{1,128}$/u.test(id) ? id : null;
}

/** Undefined when it is no JSON. */
export function parsedReply(reply: Pick<WireReply, "text">): unknown {
  try {
    return JSON.parse(reply.text) as unknown;
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
