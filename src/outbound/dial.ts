// The only door out: every socket of the gateway's own making is opened here (ARCHITECTURE.md, "Who may import whom").
// One HTTP exchange per call, and certainty about whether any byte of it left (contract 1, "Definite and unknown outcomes").
import type { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";

export interface OutboundRequest {
  /**
   * Who supplied the address. `operator`: the configuration, which may name any host. Addresses that callers supply
   * need the address rules and have no way in yet.
   */
  readonly trust: "operator";
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: OutboundBody;
  /** The caller's own wish to stop. */
  readonly signal?: AbortSignal;
  /** From the call to the last byte of the reply. */
  readonly timeoutMs?: number;
  /** Told at the moment the first byte goes to the socket, and at most once. */
  readonly onDispatch?: () => void;
}

export interface OutboundBody {
  readonly sizeBytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface OutboundReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export type OutboundFailure = "connection" | "timeout" | "aborted" | "reply_too_large";

/** `dispatched: false` means that no byte of the request left this machine. No address, header or body is in it. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure;
  readonly dispatched: boolean;
  /** A system's or the HTTP client's error code. */
  readonly reason: string | null;

  constructor(failure: OutboundFailure, dispatched: boolean, reason: string | null) {
    super(`${failure} ${dispatched ? "after" : "before"} the first byte was sent`);
    this.name = "OutboundError";
    this.failure = failure;
    this.dispatched = dispatched;
    this.reason = reason;
  }
}

export interface Outbound {
  exchange(request: OutboundRequest): Promise<OutboundReply>;
  /** Requests whose first byte left, since the start. */
  dispatched(): number;
  /** Waits for the exchanges under way. */
  close(): Promise<void>;
  /** Cuts the exchanges under way. */
  destroy(): Promise<void>;
}

const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A pooled socket must be given up before the server does it. Node closes idle ones after 5 s, most balancers after 60;
 * a server's `Keep-Alive: timeout` shortens ours further. undici also reads what waits on an idle socket before it writes,
 * so that a close already received is seen.
 */
const IDLE_SOCKET_MS = 4_000;

interface OutboundOptions {
  /** How sockets are opened; set in `app.ts` and tests alone. */
  readonly connect?: Agent.Options["connect"];
}

export function createOutbound(options: OutboundOptions = {}): Outbound {
  const agent = new Agent({
    connect: options.connect ?? { timeout: CONNECT_TIMEOUT_MS },
    // A provider may think for ten minutes; each exchange brings its own deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_SOCKET_MS,
    keepAliveMaxTimeout: IDLE_SOCKET_MS,
    // "Has a byte left?" is known per socket; HTTP/2 would blur it, and would share one socket's fate among many calls.
    allowH2: false,
    pipelining: 1,
  });
  let dispatched = 0;
  return {
    exchange: (request) => new Exchange(request, () => dispatched++).run(agent),
    dispatched: () => dispatched,
    close: () => agent.close(),
    destroy: () => agent.destroy(),
  };
}

/** One request and its reply. It settles once; whatever the socket says afterwards changes nothing. */
class Exchange {
  readonly #request: OutboundRequest;
  readonly #count: () => void;
  readonly #chunks: Buffer[] = [];
  readonly #settled = Promise.withResolvers<OutboundReply>();
  #controller: Dispatcher.DispatchController | null = null;
  #stopped: OutboundFailure | null = null;
  #dispatched = false;
  #started = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #replyBytes = 0;

  constructor(request: OutboundRequest, count: () => void) {
    this.#request = request;
    this.#count = count;
  }

  async run(agent: Agent): Promise<OutboundReply> {
    const { signal, timeoutMs } = this.#request;
    const onAbort = (): void => this.#stop("aborted");
    const timer = timeoutMs === undefined ? null : setTimeout(() => this.#stop("timeout"), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      if (signal?.aborted) this.#stop("aborted");
      else this.#dispatch(agent);
      return await this.#settled.promise;
    } finally {
      if (timer !== null) clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #dispatch(agent: Agent): void {
    const { method, url, headers, body } = this.#request;
    const options: Dispatcher.DispatchOptions = {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers: {
        "accept-encoding": "identity",
        ...headers,
        ...(body === undefined ? {} : { "content-length": String(body.sizeBytes) }),
      },
      body: body === undefined ? null : asyncBody(this.#upload(body)),
    };
    agent.dispatch(options, {
      onRequestStart: (controller) => {
        this.#controller = controller;
        // A second start would be a second sending; the exchange is over instead.
        if (this.#stopped !== null || this.#started) return controller.abort(new Error("stopped"));
        this.#started = true;
        if (body === undefined) this.#markDispatched();
      },
      onResponseStart: (_controller, status, replyHeaders) => {
        this.#status = status;
        this.#headers = singleValues(replyHeaders);
      },
      onResponseData: (_controller, chunk) => {
        this.#replyBytes += chunk.byteLength;
        if (this.#replyBytes > MAX_REPLY_BYTES) this.#stop("reply_too_large");
        else this.#chunks.push(chunk);
      },
      onResponseEnd: () => this.#reply(),
      onResponseError: (_controller, error) => this.#fail("connection", codeOf(error)),
    });
  }

  /** undici writes the head together with the first chunk: until a chunk is handed over, nothing has left. */
  async *#upload(body: OutboundBody): AsyncGenerator<Uint8Array> {
    let sentBytes = 0;
    for await (const chunk of body.open()) {
      if (chunk.byteLength === 0) continue;
      this.#markDispatched();
      yield chunk;
      sentBytes += chunk.byteLength;
      // Asking the source for its end may take longer than the reply: undici would take that for a reply before the end of
      // the request and give the socket up, so that every upload would need a new one.
      if (sentBytes === body.sizeBytes) return;
    }
  }

  #markDispatched(): void {
    if (this.#dispatched) return;
    this.#dispatched = true;
    this.#count();
    this.#request.onDispatch?.();
  }

  #stop(failure: OutboundFailure): void {
    this.#stopped ??= failure;
    this.#fail(failure, null);
    this.#controller?.abort(new Error("stopped"));
  }

  #reply(): void {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#settled.resolve({ status: this.#status, headers: this.#headers, text });
  }

  #fail(failure: OutboundFailure, reason: string | null): void {
    // A status of 400 and above is an answer, however little of its body came through; a cut success is not.
    if (this.#status >= 400 && failure !== "aborted") this.#reply();
    else this.#settled.reject(new OutboundError(failure, this.#dispatched, reason));
  }
}

/** undici takes any async iterable as a body (core/request.js); its types name only `Readable`, which reads ahead. */
function asyncBody(chunks: AsyncIterable<Uint8Array>): Readable {
  return chunks as unknown as Readable;
}

function singleValues(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

function codeOf(error: unknown): string | null {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : null;
}
