// One call of the gateway, repeated where the answer reports that this may help and where it cannot be paid twice [client.retry-same-key].
import type { EndpointMethod } from "../contract/endpoint.ts";
import type { CallOptions, ClientConfiguration } from "./configuration.ts";
import { type Deadline, openDeadline } from "./deadline.ts";
import { PatchbayConnectionError, PatchbayError } from "./errors.ts";
import { readRefusal } from "./read-refusal.ts";

export interface RequestBody {
  readonly contentType: string;
  /** A stream is sent once. */
  readonly body: string | Blob | ReadableStream<Uint8Array>;
}

export interface Call {
  readonly method: EndpointMethod;
  /** With its query. */
  readonly path: string;
  readonly accept?: string;
  readonly body?: RequestBody;
  /** The same over all its tries; null where repeating does no harm, or where a key would not count. */
  readonly idempotencyKey: string | null;
  /** It may be paid for, and takes no key. */
  readonly isPaidEachTime?: boolean;
  readonly options: CallOptions;
}

export interface Answered<T> {
  readonly data: T;
  /** `X-Request-Id`: what the gateway's record of the request is found by. */
  readonly requestId: string;
  /** Its head; the body was read. */
  readonly response: Response;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** Who is told to wait for longer is told so. */
const MAX_RETRY_AFTER_SECONDS = 60;

export async function callGateway<T>(
  configuration: ClientConfiguration,
  call: Call,
  read: (response: Response) => Promise<T>,
): Promise<Answered<T>> {
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
    connectionError(call, "TIMED_OUT", `There was no whole answer within ${timeoutMs} ms.`),
  );
}

/** `read` may leave the body unread; what breaks while it reads is a connection that failed. */
export async function answerWithin<T>(
  configuration: ClientConfiguration,
  call: Call,
  { signal }: Deadline,
  read: (response: Response) => Promise<T>,
): Promise<Answered<T>> {
  const { maxRetries = configuration.maxRetries } = call.options;
  for (let retries = 0, tries = 1; ; tries += 1) {
    try {
      return await tryOnce(configuration, call, signal, read);
    } catch (error) {
      // By the caller or the clock, whatever else broke because of it.
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof PatchbayError) || maxRetries === 0 || !mayRepeat(call, error)) throw error;
      // The answer is being made: waiting for it is no retry, and ends when the time is up.
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
): Promise<Answered<T>> {
  const { method, path, body, idempotencyKey, accept = "application/json" } = call;
  // Made outside: a header that cannot be sent is no fault of the connection.
  const headers = new Headers({ authorization: `Bearer ${apiKey}`, accept });
  if (idempotencyKey !== null) headers.set("idempotency-key", idempotencyKey);
  if (body !== undefined) headers.set("content-type", body.contentType);
  let requestId: string | null = null;
  try {
    const init = { method, headers, signal, redirect: "manual" as const };
    // A streamed body needs `duplex`, which not all platforms' types know.
    const sent = body === undefined ? init : { ...init, body: body.body, ...(isOnce(call) ? { duplex: "half" } : {}) };
    const response = await fetch(`${baseUrl}${path}`, sent as RequestInit);
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
  // Without a key only what a quota refused was certainly not run.
  return call.isPaidEachTime !== true || error.status === 429;
}

function isOnce({ body }: Call): boolean {
  return typeof body?.body === "object" && "getReader" in body.body;
}

/** Twice as long each time, a random quarter more or less, and never before the gateway says. */
export function delayMs(tries: number, retryAfterSeconds: number | null, random: number): number {
  const exponential = Math.min(FIRST_DELAY_MS * 2 ** (tries - 1), MAX_DELAY_MS) * (0.75 + random / 2);
  return Math.max(Math.round(exponential), (retryAfterSeconds ?? 0) * 1000);
}

/** Node.js says what happened in the cause alone. */
function reasonOf(error: unknown): string {
  const { cause, message } = (error ?? {}) as Partial<Error> & {
    readonly cause?: Partial<Error> & { readonly code?: unknown };
  };
  // That of a file which cannot be read any more is a number.
  const code = typeof cause?.code === "string" ? cause.code : undefined;
  return code ?? cause?.message ?? message ?? "no reason given";
}
