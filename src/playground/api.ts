// The four calls of the page: the gateway's public API, with the caller's own key. What can go wrong is returned.
import type { KeyDescription } from "../contract/account.ts";
import type { ErrorBody } from "../contract/error-body.ts";
import type { RequestRecordView } from "../contract/requests.ts";
import type { RoutingDecision, TranscriptionEnvelope } from "../contract/transcription.ts";

export type Failure =
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly error: ErrorBody["error"];
      readonly retryAfter: string | null;
    }
  | { readonly kind: "unreadable"; readonly status: number }
  | { readonly kind: "unreachable" }
  | { readonly kind: "cancelled" };
export type Outcome<T> =
  | { readonly ok: true; readonly data: T; readonly requestId: string | null }
  | { readonly ok: false; readonly failure: Failure; readonly requestId: string | null };

export function getMe(key: string): Promise<Outcome<KeyDescription>> {
  return call("/v1/me", key);
}

export function transcribe(
  task: "transcription" | "translation",
  key: string,
  body: FormData,
  signal: AbortSignal,
): Promise<Outcome<TranscriptionEnvelope | RoutingDecision>> {
  return call(`/v1/${task}`, key, { method: "POST", body, signal });
}

const TRIES = 20;
const AGAIN_MS = 300;

/** A record is readable within 5 s of the answer. */
export async function getRecord(key: string, requestId: string): Promise<Outcome<RequestRecordView>> {
  for (let tries = 1; ; tries += 1) {
    await new Promise((done) => setTimeout(done, AGAIN_MS));
    const outcome = await call<RequestRecordView>(`/v1/requests/${encodeURIComponent(requestId)}`, key);
    const isMissing = !outcome.ok && outcome.failure.kind === "refused" && outcome.failure.status === 404;
    if (!isMissing || tries === TRIES) return outcome;
  }
}

/** A header takes no other letters, and no key has them. */
const NOT_IN_HEADERS = /[^\x20-\x7e]/gu;

async function call<T>(path: string, key: string, init: RequestInit = {}): Promise<Outcome<T>> {
  let requestId: string | null = null;
  let status = 0;
  try {
    const response = await fetch(path, {
      ...init,
      headers: { authorization: `Bearer ${key.replaceAll(NOT_IN_HEADERS, "?")}`, accept: "application/json" },
    });
    requestId = response.headers.get("x-request-id");
    ({ status } = response);
    const data: unknown = await response.json();
    if (response.ok) return { ok: true, data: data as T, requestId };
    const error = errorIn(data);
    if (error === null) return { ok: false, failure: { kind: "unreadable", status }, requestId };
    const retryAfter = response.headers.get("retry-after");
    return { ok: false, failure: { kind: "refused", status, error, retryAfter }, requestId };
  } catch (fault) {
    if (init.signal?.aborted === true) return { ok: false, failure: { kind: "cancelled" }, requestId };
    const isAnswer = status !== 0 && fault instanceof SyntaxError;
    return { ok: false, failure: isAnswer ? { kind: "unreadable", status } : { kind: "unreachable" }, requestId };
  }
}

/** null: whoever answered is not the gateway. */
function errorIn(data: unknown): ErrorBody["error"] | null {
  const { error } = (data ?? {}) as Partial<ErrorBody>;
  return typeof error?.code === "string" && typeof error.message === "string" ? error : null;
}
