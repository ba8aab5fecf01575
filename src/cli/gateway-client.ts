// Sends one request to a gateway and retries it under the same Idempotency-Key while the gateway reports that a retry may succeed [cli.retries].
import { setTimeout as wait } from "node:timers/promises";
import type { EndpointMethod } from "../contract/endpoints/endpoint.ts";
import { refusalLines } from "../contract/refusal-lines.ts";
import { errorCode } from "../lib/error-code.ts";
import { asRecord, asString } from "../lib/json/json-guards.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { CliError } from "./terminal.ts";

export interface GatewayRequest {
  /** Default: POST. */
  readonly method?: EndpointMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Creates a fresh body for every try. */
  readonly makeBody: () => {
    readonly body: ReadableStream<Uint8Array> | string | null;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly signal: AbortSignal;
  readonly onRetry: (message: string, delaySeconds: number) => void;
  /** Called for each try, refusals included, before its body is read. */
  readonly onAnswer?: (answer: Response) => Promise<void>;
  /** False: repeating it repeats its effect, so a broken connection is not retried. Default: true. */
  readonly isRepeatable?: boolean;
}

/** There is no gateway at the address, so nothing was sent. */
export class UnreachableError extends CliError {}

const MAX_TRIES = 4;
const MAX_DELAY_SECONDS = 60;
/** While a replay is in progress, each poll sends the whole request again, so the polls become less frequent up to this factor. */
const MAX_STRETCH = 8;

/** Returns the first answer that is not a retryable error. Errors are thrown as `CliError`. */
export async function callGateway(request: GatewayRequest): Promise<Response> {
  for (let tries = 1, waits = 1; ; ) {
    const outcome = await send(request);
    if (outcome.ok) return outcome.response;
    // A try may still be running and billed after its connection broke: it is awaited until its answer comes, or the gateway reports that there will be none.
    const isOver = !outcome.isRetryable || (tries === MAX_TRIES && !outcome.isBeingMade);
    const pause = outcome.retryAfterSeconds ?? 2 ** (tries - 1) / 2;
    const delaySeconds = outcome.isBeingMade ? pause * Math.min(waits, MAX_STRETCH) : pause;
    if (isOver || delaySeconds > MAX_DELAY_SECONDS) throw outcome.error;
    if (outcome.isBeingMade) waits += 1;
    else tries += 1;
    request.onRetry(outcome.error.message, delaySeconds);
    await wait(delaySeconds * 1000, undefined, { signal: request.signal });
  }
}

type Outcome =
  | { readonly ok: true; readonly response: Response }
  | {
      readonly ok: false;
      readonly error: CliError;
      readonly isRetryable: boolean;
      /** By an earlier request under this Idempotency-Key. */
      readonly isBeingMade: boolean;
      readonly retryAfterSeconds: number | null;
    };

async function send(request: GatewayRequest): Promise<Outcome> {
  const { body, headers } = request.makeBody();
  let response: Response;
  try {
    const init = {
      method: request.method ?? "POST",
      headers: { ...request.headers, ...headers },
      signal: request.signal,
      redirect: "error" as const,
    };
    // A streamed body needs `duplex`.
    response = await fetch(request.url, { ...init, body, duplex: "half" });
  } catch (error) {
    request.signal.throwIfAborted();
    return connectionFailure(request, error);
  }
  await request.onAnswer?.(response);
  return response.ok ? { ok: true, response } : refusal(request.url, response);
}

function connectionFailure({ url, isRepeatable = true }: GatewayRequest, error: unknown): Outcome {
  const cause = error instanceof Error ? error.cause : undefined;
  // Nothing was sent. The invalid value may be the API key, so it is not quoted.
  if (error instanceof TypeError && cause === undefined)
    throw new CliError(
      EXIT.usage,
      "The request cannot be sent: a key or version is not a valid header value, or GET has a body.",
    );
  const origin = new URL(url).origin;
  // Node.js enforces the fetch standard's list of blocked ports.
  if (cause instanceof Error && cause.message === "bad port")
    throw new CliError(EXIT.upstream, `${origin} uses a port that HTTP clients refuse to call.`, {
      hints: ["use another port: patchbay up --port 8080"],
    });
  const code = errorCode(cause) ?? "";
  const isUnreachable = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"].includes(code);
  const reason = code !== "" ? code : cause instanceof Error ? cause.message : "no reason given";
  const message = isUnreachable
    ? `No gateway at ${origin} (${code}).`
    : `The connection to ${origin} broke: ${reason}.`;
  const hints = ["start one: patchbay up", "or use another address: --url URL, PATCHBAY_URL"];
  // An Idempotency-Key prevents duplicate work, so a connection that a socket error broke may be retried.
  return {
    ok: false,
    error: isUnreachable
      ? new UnreachableError(EXIT.upstream, message, { hints })
      : new CliError(EXIT.upstream, message, { hints: ["see the gateway's log, then send the request again"] }),
    isRetryable: isRepeatable && code !== "" && !isUnreachable,
    isBeingMade: false,
    retryAfterSeconds: null,
  };
}

async function refusal(url: string, response: Response): Promise<Outcome> {
  const document = await readJson(response);
  const error = asRecord(asRecord(document)["error"]);
  const code = asString(error["code"]);
  const requestId = asString(error["request_id"]) ?? response.headers.get("x-request-id");
  const message =
    code === null
      ? `The answer was ${response.status} without an error of a gateway; is ${new URL(url).origin} one?`
      : `${code}: ${asString(error["message"]) ?? "no message"}`;
  const exitCode = exitCodeOf(code, response.status);
  const hints = [
    ...refusalLines({ details: error["details"], docUrl: asString(error["doc_url"]), requestId }),
    // The record of the request shows what each target lacked, or how it failed.
    ...(requestId === null || code === null || exitCode !== EXIT.upstream
      ? []
      : [`see why: patchbay requests show ${requestId}`]),
  ];
  const header = response.headers.get("x-should-retry");
  return {
    ok: false,
    error: new CliError(exitCode, message, { hints, ...(code === null ? {} : { document }) }),
    isRetryable: header === null ? error["retryable"] === true : header === "true",
    isBeingMade: code === "IDEMPOTENCY_REPLAY_IN_PROGRESS",
    retryAfterSeconds: retryAfter(response.headers.get("retry-after")),
  };
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return JSON.parse(await response.text());
  } catch {
    return null;
  }
}

function retryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header.trim()) ? Number(header) : null;
}
