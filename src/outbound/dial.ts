// The only door out: every socket of the gateway's own making is opened here (ARCHITECTURE.md, "Who may import whom").
// One HTTP exchange per call, read at once or as it comes. Each call says who supplied the address: the operator's may be
// any, those of anybody else go through the guard, for there is no other way from their text to a socket.
import type { Socket } from "node:net";
import { Agent, Client, type Dispatcher } from "undici";
import { createGuard, type Guard, type GuardOptions } from "./guard.ts";
import { type Opened, openSocket, type SocketRequest } from "./socket.ts";
import { type OutboundStream, StreamReply, type StreamTimes } from "./stream-reply.ts";
import type { TargetPolicy } from "./target-policy.ts";
import { OutboundError, type ReplyReader, WireCall, type WireRequest } from "./wire-call.ts";

export { ConnectFailure, GuardRefusal, refusalOf, type RefusalReason } from "./refusal.ts";
export { OutboundError, type OutboundBody, type OutboundFailure } from "./wire-call.ts";
export type { OutboundSocket, SocketMessage } from "./socket.ts";
export type { OutboundStream } from "./stream-reply.ts";

/** To an address that the configuration supplied. */
export interface OutboundRequest extends WireRequest {
  readonly trust: "operator";
}

export type StreamRequest = OutboundRequest & StreamTimes;

/** To an address that somebody else supplied. Throws `GuardRefusal` when the policy or the address rules forbid it. */
export interface CallerRequest extends Omit<WireRequest, "url" | "pathAndQuery"> {
  readonly trust: "caller";
  /** As it was given: the guard judges the text, not what a parser made of it. */
  readonly url: string;
  readonly policy: TargetPolicy;
  /** The whole body is the answer, as it is of a provider: one that is cut is none. Absent: the status decides. */
  readonly wholeReply?: true;
}

/** The same for a WebSocket. */
export interface CallerSocketRequest
  extends Omit<SocketRequest, "trust" | "url" | "connection">,
    Pick<CallerRequest, "trust" | "url" | "policy"> {}

export interface OutboundReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Outbound {
  /** For `trust: "caller"`, unless it wants the whole, a body longer than `maxReplyBytes`, slow or cut is left where it is. */
  exchange(request: OutboundRequest | CallerRequest): Promise<OutboundReply>;
  /** Comes back with the head of the reply; any status is a reply. */
  open(request: StreamRequest | (CallerRequest & StreamTimes)): Promise<OutboundStream>;
  /** Reads a reply as it comes; the connection is gone when `read` returns. */
  receive<T>(request: CallerRequest & StreamTimes, read: (reply: OutboundStream) => Promise<T>): Promise<T>;
  /** A WebSocket, or what its upgrade was answered with. */
  connect(request: SocketRequest | CallerSocketRequest): Promise<Opened>;
  /** Judges a target as a request to it would, without one. */
  vet(url: string, policy: TargetPolicy): Promise<void>;
  /** Requests whose first byte left, since the start. */
  dispatched(): number;
  /** Targets that the guard judged, since the start: one for every `caller` request and `vet`. */
  judged(): number;
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

const HTTP_OPTIONS = {
  // A provider may think for ten minutes; each exchange brings its own deadline.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: IDLE_SOCKET_MS,
  keepAliveMaxTimeout: IDLE_SOCKET_MS,
  // "Has a byte left?" is known per socket; HTTP/2 would blur it, and would share one socket's fate among many calls.
  allowH2: false,
  pipelining: 1,
} as const;

export interface OutboundOptions {
  /** How sockets to the operator's addresses are opened; set in tests alone. */
  readonly connect?: Agent.Options["connect"];
  /** Resolver and connector of everybody else's addresses; without them there is no such request. */
  readonly guard?: GuardOptions;
}

export function createOutbound(options: OutboundOptions = {}): Outbound {
  const agent = new Agent({ connect: options.connect ?? { timeout: CONNECT_TIMEOUT_MS }, ...HTTP_OPTIONS });
  const callers = createCallerWay(options.guard === undefined ? null : createGuard(options.guard));
  let dispatched = 0;
  const count = (): void => void dispatched++;
  return {
    exchange: (request) =>
      request.trust === "operator"
        ? new Exchange(request, { statusDecides: false }, count).run(agent)
        : callers.send(request, (dispatcher, wire) =>
            new Exchange(wire, { statusDecides: request.wholeReply !== true }, count).run(dispatcher),
          ),
    open: (request) =>
      request.trust === "operator" ? new StreamReply(request, count).open(agent) : callers.open(request, count),
    receive: (request, read) =>
      callers.send(request, async (dispatcher, wire) => read(await new StreamReply(wire, count).open(dispatcher))),
    connect: async (request) =>
      request.trust === "operator" ? openSocket(request, count) : openSocket(await callers.vetted(request), count),
    vet: callers.vet,
    dispatched: () => dispatched,
    judged: callers.judged,
    close: async () => {
      await Promise.all([agent.close(), callers.close()]);
    },
    destroy: async () => {
      await Promise.all([agent.destroy(), callers.destroy()]);
    },
  };
}

type Send = <T>(
  request: CallerRequest & StreamTimes,
  work: (dispatcher: Dispatcher, wire: WireRequest & StreamTimes) => Promise<T>,
) => Promise<T>;

interface CallerWay extends Pick<Outbound, "vet" | "judged" | "close" | "destroy"> {
  readonly send: Send;
  /** The connection lasts as long as somebody reads the reply, and no longer than the request's time. */
  open(request: CallerRequest & StreamTimes, count: () => void): Promise<OutboundStream>;
  /** The same request with a connection to what was vetted for it. */
  vetted(request: CallerSocketRequest): Promise<SocketRequest>;
}

/** One connection for one request, to the address that was vetted for it: a pooled one would be vetted for another moment. */
function createCallerWay(guard: Guard | null): CallerWay {
  const underWay = new Set<Promise<unknown>>();
  const clients = new Set<Client>();

  const present = (): Guard => {
    if (guard === null) throw new Error("this way out has no resolver and no connector for callers' addresses");
    return guard;
  };

  const dial = async ({ url, policy, signal }: Pick<CallerRequest, "url" | "policy" | "signal">) =>
    present()
      .dial(url, policy, signal)
      .catch((error: unknown) => {
        throw signal?.aborted === true ? new OutboundError("aborted", false, null) : error;
      });

  const sendOne: Send = async (request, work) => {
    const { url: _url, policy: _policy, trust: _trust, ...rest } = request;
    const startedMs = performance.now();
    const { target, socket } = await dial(request);
    const client = new Client(target.url.origin, { ...HTTP_OPTIONS, connect: once(socket) });
    clients.add(client);
    const leftMs = rest.timeoutMs === undefined ? {} : { timeoutMs: rest.timeoutMs - (performance.now() - startedMs) };
    try {
      return await work(client, { ...rest, ...leftMs, url: target.url, pathAndQuery: target.pathAndQuery });
    } finally {
      await client.destroy();
      clients.delete(client);
      socket.destroy();
    }
  };

  const ended = async (): Promise<void> => {
    await Promise.allSettled(underWay);
  };

  const send: Send = (request, work) => {
    const sending = sendOne(request, work);
    underWay.add(sending);
    const forget = (): void => void underWay.delete(sending);
    sending.then(forget, forget);
    return sending;
  };

  return {
    send,
    open: (request, count) => {
      const opened = Promise.withResolvers<OutboundStream>();
      const sent = send(request, async (dispatcher, wire) => {
        const stream = await new StreamReply(wire, count).open(dispatcher);
        const { body, read } = untilRead(stream.body, wire);
        opened.resolve({ ...stream, body });
        await read;
      });
      sent.catch(opened.reject);
      return opened.promise;
    },
    vetted: async ({ url, policy, trust: _trust, ...rest }) => {
      const { target, socket } = await dial({
        url,
        policy,
        ...(rest.signal === undefined ? {} : { signal: rest.signal }),
      });
      return { ...rest, trust: "operator", url: target.url, connection: socket };
    },
    vet: async (url, policy) => {
      await present().vet(url, policy);
    },
    judged: () => guard?.judged() ?? 0,
    close: ended,
    destroy: async () => {
      await Promise.all([...clients].map((client) => client.destroy()));
      await ended();
    },
  };
}

/** `read` resolves when the reading of the body is over, or the request's time is, or nobody wants it any more. */
function untilRead(
  body: OutboundStream["body"],
  { timeoutMs, signal }: Pick<WireRequest, "timeoutMs" | "signal">,
): { readonly body: OutboundStream["body"]; readonly read: Promise<void> } {
  const { promise: read, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end, { once: true });
  async function* reading(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* body;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      end();
    }
  }
  return { body: reading(), read };
}

/** A connector that has one connection to give, and no other when that is gone. */
function once(socket: Socket): NonNullable<Client.Options["connect"]> {
  let isTaken = false;
  return (_options, callback) => {
    if (isTaken) return callback(new Error("one connection for one request"), null);
    isTaken = true;
    // Not at once: the client asks while it is about to send, and would not look again.
    queueMicrotask(() => callback(null, socket));
  };
}

/** One request and its whole reply. It settles once; whatever the socket says afterwards changes nothing. */
class Exchange implements ReplyReader {
  readonly #call: WireCall;
  readonly #statusDecides: boolean;
  readonly #chunks: Buffer[] = [];
  readonly #settled = Promise.withResolvers<OutboundReply>();
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};

  constructor(request: WireRequest, { statusDecides }: { readonly statusDecides: boolean }, count: () => void) {
    this.#call = new WireCall(request, this, count);
    this.#statusDecides = statusDecides;
  }

  async run(dispatcher: Dispatcher): Promise<OutboundReply> {
    this.#call.start(dispatcher);
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
    const isAnswered = this.#status >= 400 || (this.#statusDecides && this.#status > 0);
    if (isAnswered && error.failure !== "aborted") this.end();
    else this.#settled.reject(error);
  }
}
