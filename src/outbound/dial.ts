// The only place that opens outbound sockets: one HTTP exchange or WebSocket per call. Each call states who supplied the URL: the operator's are unrestricted,
// all others go through the guard.
import { Agent, EnvHttpProxyAgent } from "undici";
import {
  type CallerRequest,
  type CallerSocketRequest,
  type GuardedRequests,
  createGuardedRequests,
} from "./guarded-requests.ts";
import { createGuard, type GuardOptions } from "./guard.ts";
import { HTTP_OPTIONS } from "./http-options.ts";
import { type SocketOutcome, openSocket, type WireSocketRequest } from "./socket.ts";
import { type OutboundStream, StreamReply, type StreamTimes } from "./stream-reply.ts";
import { type OutboundReply, WholeReply } from "./whole-reply.ts";
import type { WireRequest } from "./wire-call.ts";

export { ConnectFailure, GuardRefusal, refusalOf, type RefusalReason } from "./refusal.ts";
export type { Examination, GuardRule } from "./guard.ts";
export type { CallerRequest, CallerSocketRequest } from "./guarded-requests.ts";
export { OutboundError, type OutboundBody, type OutboundFailure } from "./wire-call.ts";
export type { OutboundSocket, SocketMessage, WireFrame } from "./socket.ts";
export type { OutboundStream } from "./stream-reply.ts";
export type { OutboundReply } from "./whole-reply.ts";

/** A request to a URL from the configuration. */
export interface OutboundRequest extends WireRequest {
  readonly trust: "operator";
}

/** A WebSocket to a URL from the configuration. */
export interface SocketRequest extends WireSocketRequest {
  readonly trust: "operator";
}

export type StreamRequest = OutboundRequest & StreamTimes;

export interface Outbound extends Pick<GuardedRequests, "examine" | "vet" | "reach" | "judged"> {
  /** With `trust: "caller"` and without `wholeReply`, a body that is truncated, slow or longer than `maxReplyBytes` is returned as far as it was read. */
  exchange(request: OutboundRequest | CallerRequest): Promise<OutboundReply>;
  /** Resolves with the head of the reply, whatever its status. */
  open(request: StreamRequest | (CallerRequest & StreamTimes)): Promise<OutboundStream>;
  /** Streams a reply to `read` and closes the connection when `read` returns. */
  receive<T>(request: CallerRequest & StreamTimes, read: (reply: OutboundStream) => Promise<T>): Promise<T>;
  /** A WebSocket, or the reply to its upgrade request. */
  connect(request: SocketRequest | CallerSocketRequest): Promise<SocketOutcome>;
  /** Requests with a sent first byte, since the start. */
  dispatched(): number;
  /** Waits for pending exchanges. */
  close(): Promise<void>;
  /** Destroys the sockets of pending exchanges. */
  destroy(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** The values of HTTPS_PROXY and NO_PROXY. Empty: none. */
export interface ProxySettings {
  readonly https: string;
  readonly noProxy: string;
}

export interface OutboundOptions {
  /** Opens sockets to the operator's addresses. Set only in tests. */
  readonly connect?: Agent.Options["connect"];
  /** Sends HTTPS requests to the operator's addresses through a proxy. */
  readonly proxy?: ProxySettings;
  /** Resolver and connector for caller-supplied addresses. Absent: such requests fail. */
  readonly guard?: GuardOptions;
}

export function createOutbound(options: OutboundOptions = {}): Outbound {
  const agentOptions = { connect: options.connect ?? { timeout: CONNECT_TIMEOUT_MS }, ...HTTP_OPTIONS };
  const agent = options.proxy === undefined ? new Agent(agentOptions) : createProxyAgent(agentOptions, options.proxy);
  const callers = createGuardedRequests(options.guard === undefined ? null : createGuard(options.guard));
  let dispatched = 0;
  const count = (): void => void dispatched++;
  return {
    exchange: (request) =>
      request.trust === "operator"
        ? new WholeReply(request, { statusDecides: false }, count).run(agent)
        : callers.send(request, (dispatcher, wire) =>
            new WholeReply(wire, { statusDecides: request.wholeReply !== true }, count).run(dispatcher),
          ),
    open: (request) =>
      request.trust === "operator" ? new StreamReply(request, count).open(agent) : callers.open(request, count),
    receive: (request, read) =>
      callers.send(request, async (dispatcher, wire) => read(await new StreamReply(wire, count).open(dispatcher))),
    connect: async (request) =>
      request.trust === "operator" ? openSocket(request, count) : openSocket(await callers.vetted(request), count),
    examine: callers.examine,
    vet: callers.vet,
    reach: callers.reach,
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

/** Every value is passed, because the library would read the environment for a missing one. `requestTls` is TLS with the target, inside of the tunnel. */
function createProxyAgent(options: Agent.Options, { https, noProxy }: ProxySettings): EnvHttpProxyAgent {
  const tls = typeof options.connect === "object" ? { requestTls: options.connect } : {};
  return new EnvHttpProxyAgent({ ...options, ...tls, httpProxy: "", httpsProxy: https, noProxy });
}
