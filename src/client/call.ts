// Sends one call to the gateway and retries it if the answer reports that a retry may succeed and cannot be billed twice [client.retry-same-key].
import type { EndpointMethod } from "../contract/endpoints/endpoint.ts";
import type { CallOptions, ClientConfiguration } from "./configuration.ts";
import { type Deadline, openDeadline } from "./deadline.ts";
import { PatchbayConnectionError, PatchbayError } from "./errors.ts";
import { readRefusal } from "./read-refusal.ts";

export interface RequestBody {
  readonly contentType: string;
  /** A stream can be sent only once. */
  readonly body: string | Blob | ReadableStream<Uint8Array>;
}

export interface Call {
  readonly method: EndpointMethod;
  /** Includes the query. */
  readonly path: string;
  readonly accept?: string;
  readonly body?: RequestBody;
  /** The same for all tries. Null: repeating is harmless, or the endpoint ignores keys. */
  readonly idempotencyKey: string | null;
  /** It may be billed and accepts no idempotency key. */
  readonly isPaidEachTime?: boolean;
  readonly options: CallOptions;
}

export interface ClientReply<T> {
  readonly data: T;
  /** `X-Request-Id`, which identifies the gateway's record of the request. */
  readonly requestId: string;
  /** Headers only; the body has been read. */
  readonly response: Response;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** A longer wait is reported to the caller instead of being waited out. */
const MAX_RETRY_AFTER_SECONDS = 60;

export async function callGateway<T>(
  configuration: ClientConfiguration,
  call: Call,
  read: (response: Response) => Promise<T>,
): Promise<ClientReply<T>> {
  const deadline = deadlineOf(configuration, call);
  try {
    return await answerWithin(configuration, call, deadline, read);
  } finally {
    deadline.close();
  }
}

export function deadlineOf(configuration: ClientConfiguration, call: Call): Deadline {
  const { signal, timeoutMs = configuration.timeoutMs } = call.options;
  return openDeadline(signal, timeoutMs, () =>
    connectionError(call, "TIMED_OUT", `No complete answer within ${timeoutMs} ms.`),
  );
}

/** `read` may leave the body unread. A failure while it reads counts as a broken connection. */
export async function answerWithin<T>(
  configuration: ClientConfiguration,
  call: Call,
  { signal }: Deadline,
  read: (response: Response) => Promise<T>,
): Promise<ClientReply<T>> {
  const { maxRetries = configuration.maxRetries } = call.options;
  for (let retries = 0, tries = 1; ; tries += 1) {
    try {
      return await tryOnce(configuration, call, signal, read);
    } catch (error) {
      // Aborted by the caller or the deadline, which caused any other failure.
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof PatchbayError) || maxRetries === 0 || !mayRepeat(call, error)) throw error;
      // A replay in progress: waiting for it does not count as a retry, and ends at the deadline.
      if (error.code !== "IDEMPOTENCY_REPLAY_IN_PROGRESS") retries += 1;
      if (retries > maxRetries) throw error;
      await configuration.wait(delayMs(tries, error.retryAfterSeconds, configuration.random()), signal);
    }
  }
}

async function tryOnce<T>(
  { baseUrl, apiKey, fetch }: ClientConfiguration,
  call: Call,
  signal: AbortSignal,
  read: (response: Response) => Promise<T>,
): Promise<ClientReply<T>> {
  const { method, path, body, idempotencyKey, accept = "application/json" } = call;
  // Outside the try block: an invalid header is not a connection failure.
  const headers = new Headers({ authorization: `Bearer ${apiKey}`, accept });
  if (idempotencyKey !== null) headers.set("idempotency-key", idempotencyKey);
  if (body !== undefined) headers.set("content-type", body.contentType);
  let requestId: string | null = null;
  try {
    const init = { method, headers, signal, redirect: "manual" as const };
    // A streamed body needs `duplex`, which the types of some platforms lack.
    const request =
      body === undefined ? init : { ...init, body: body.body, ...(isOnce(call) ? { duplex: "half" } : {}) };
    const response = await fetch(`${baseUrl}${path}`, request as RequestInit);
    requestId = response.headers.get("x-request-id");
    if (!response.ok) throw await readRefusal(response, call);
    return { data: await read(response), requestId: requestId ?? "", response };
  } catch (error) {
    if (error instanceof PatchbayError) throw error;
    throw connectionError(call, "CONNECTION_FAILED", `The connection to ${baseUrl} failed: ${reasonOf(error)}.`, {
      cause: error,
      requestId,
    });
  }
}

export function connectionError(
  call: Call,
  code: PatchbayConnectionError["code"],
  message: string,
  more: { readonly cause?: unknown; readonly requestId?: string | null } = {},
): PatchbayConnectionError {
  const { idempotencyKey, isPaidEachTime } = call;
  return new PatchbayConnectionError({ code, message, retryable: isPaidEachTime !== true, idempotencyKey, ...more });
}

function mayRepeat(call: Call, error: PatchbayError): boolean {
  if (!error.retryable || isOnce(call) || (error.retryAfterSeconds ?? 0) > MAX_RETRY_AFTER_SECONDS) return false;
  // Without a key, only a request refused by a quota is certain not to have run.
  return call.isPaidEachTime !== true || error.status === 429;
}

function isOnce({ body }: Call): boolean {
  return typeof body?.body === "object" && "getReader" in body.body;
}

/** Exponential back-off with 25 % jitter, never shorter than `Retry-After`. */
export function delayMs(tries: number, retryAfterSeconds: number | null, random: number): number {
  const exponential = Math.min(FIRST_DELAY_MS * 2 ** (tries - 1), MAX_DELAY_MS) * (0.75 + random / 2);
  return Math.max(Math.round(exponential), (retryAfterSeconds ?? 0) * 1000);
}

/** Node.js puts the reason into the cause only. */
function reasonOf(error: unknown): string {
  const { cause, message } = (error ?? {}) as Partial<Error> & {
    readonly cause?: Partial<Error> & { readonly code?: unknown };
  };
  // A file that has become unreadable has a number as code.
  const code = typeof cause?.code === "string" ? cause.code : undefined;
  return code ?? cause?.message ?? message ?? "no reason given";
}
