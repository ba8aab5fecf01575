// Calls the gateway that served the page with the user's key. Failures are returned, not thrown.
import type { ErrorBody } from "../contract/error-body.ts";

export type Failure =
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly error: ErrorBody["error"];
      readonly retryAfter: string | null;
    }
  | { readonly kind: "unreadable"; readonly status: number }
  | { readonly kind: "unreachable" }
  /** The audio or body could not be read on this machine. */
  | { readonly kind: "unsendable" }
  | { readonly kind: "cancelled" };
export type Outcome<T> =
  | { readonly ok: true; readonly data: T; readonly requestId: string | null; readonly etag: string | null }
  | { readonly ok: false; readonly failure: Failure; readonly requestId: string | null };
export type Refused = Extract<Outcome<unknown>, { readonly ok: false }>;

interface AskInit extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Headers accept no other characters, and no key contains them. */
const NOT_IN_HEADERS = /[^\x20-\x7e]/gu;

/** `path` is relative to this origin. An answer without a body (204) has the data `null`. */
export async function ask<T>(path: string, key: string, init: AskInit = {}): Promise<Outcome<T>> {
  let requestId: string | null = null;
  let status = 0;
  try {
    const authorization = `Bearer ${key.replaceAll(NOT_IN_HEADERS, "?")}`;
    const response = await fetch(path, {
      ...init,
      headers: { accept: "application/json", ...init.headers, authorization },
    });
    const { headers } = response;
    requestId = headers.get("x-request-id");
    ({ status } = response);
    const data: unknown = status === 204 ? null : await response.json();
    if (response.ok) return { ok: true, data: data as T, requestId, etag: headers.get("etag") };
    const error = errorIn(data);
    if (error === null) return { ok: false, failure: { kind: "unreadable", status }, requestId };
    return {
      ok: false,
      failure: { kind: "refused", status, error, retryAfter: secondsIn(headers.get("retry-after")) },
      requestId,
    };
  } catch (fault) {
    if (init.signal?.aborted === true) return { ok: false, failure: { kind: "cancelled" }, requestId };
    const isAnswer = status !== 0 && fault instanceof SyntaxError;
    return { ok: false, failure: isAnswer ? { kind: "unreadable", status } : { kind: "unreachable" }, requestId };
  }
}

/** Null: the answer is not from the gateway. A proxy's error may contain these two fields as well, but no others. */
function errorIn(data: unknown): ErrorBody["error"] | null {
  const { error } = (data ?? {}) as Partial<ErrorBody>;
  const isOurs =
    typeof error?.code === "string" && typeof error.message === "string" && typeof error.retryable === "boolean";
  return isOurs ? error : null;
}

/** Proxies may send a date, which is not shown as a countdown. */
const secondsIn = (retryAfter: string | null): string | null =>
  retryAfter !== null && /^\d+$/u.test(retryAfter) ? retryAfter : null;
