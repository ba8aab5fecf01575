// The only door out: every socket of the gateway's own making is opened here (ARCHITECTURE.md, "Who may import whom").
// One HTTP exchange per call, read at once or as it comes.
import { Agent } from "undici";
import { type OutboundStream, StreamReply, type StreamRequest } from "./stream-reply.ts";
import { type OutboundError, type OutboundRequest, type ReplyReader, WireCall } from "./wire-call.ts";

export { OutboundError, type OutboundBody, type OutboundFailure, type OutboundRequest } from "./wire-call.ts";
export type { OutboundStream, StreamRequest } from "./stream-reply.ts";

export interface OutboundReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Outbound {
  exchange(request: OutboundRequest): Promise<OutboundReply>;
  /** Comes back with the head of the reply; any status is a reply. */
  open(request: StreamRequest): Promise<OutboundStream>;
  /** Requests whose first byte left, since the start. */
  dispatched(): number;
  /** Waits for the exchanges under way. */
  close(): Promise<void>;
  /** Cuts the exchanges under way. */
  destroy(): Promise<void>;
}

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
    open: (request) => new StreamReply(request, () => dispatched++).open(agent),
    dispatched: () => dispatched,
    close: () => agent.close(),
    destroy: () => agent.destroy(),
  };
}

/** One request and its whole reply. It settles once; whatever the socket says afterwards changes nothing. */
class Exchange implements ReplyReader {
  readonly #call: WireCall;
  readonly #chunks: Buffer[] = [];
  readonly #settled = Promise.withResolvers<OutboundReply>();
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};

  constructor(request: OutboundRequest, count: () => void) {
    this.#call = new WireCall(request, this, count);
  }

  async run(agent: Agent): Promise<OutboundReply> {
    this.#call.start(agent);
    return this.#settled.promise;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(): void {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#settled.resolve({ status: this.#status, headers: this.#headers, text });
  }

  fail(error: OutboundError): void {
    // A status of 400 and above is an answer, however little of its body came through; a cut success is not.
    if (this.#status >= 400 && error.failure !== "aborted") this.end();
    else this.#settled.reject(error);
  }
}
