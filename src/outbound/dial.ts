// The only door out: every socket of the gateway's own making is opened from here.
// One HTTP exchange per call, read at once or as it comes. Each call says who supplied the address: the operator's may be
// any, those of anybody else go through the guard, for there is no other way from their text to a socket.
import { Agent } from "undici";
import { type CallerRequest, type CallerSocketRequest, type CallerWay, createCallerWay } from "./caller-way.ts";
import { createGuard, type GuardOptions } from "./guard.ts";
import { HTTP_OPTIONS } from "./http-options.ts";
import { type Opened, openSocket, type WireSocketRequest } from "./socket.ts";
import { type OutboundStream, StreamReply, type StreamTimes } from "./stream-reply.ts";
import { type OutboundReply, WholeReply } from "./whole-reply.ts";
import type { WireRequest } from "./wire-call.ts";

export { ConnectFailure, GuardRefusal, refusalOf, type RefusalReason } from "./refusal.ts";
export type { Examination, GuardRule } from "./guard.ts";
export type { CallerRequest, CallerSocketRequest } from "./caller-way.ts";
export { OutboundError, type OutboundBody, type OutboundFailure } from "./wire-call.ts";
export type { OutboundSocket, SocketMessage } from "./socket.ts";
export type { OutboundStream } from "./stream-reply.ts";
export type { OutboundReply } from "./whole-reply.ts";

/** To an address that the configuration supplied. */
export interface OutboundRequest extends WireRequest {
  readonly trust: "operator";
}

/** The same for a WebSocket. */
export interface SocketRequest extends WireSocketRequest {
  readonly trust: "operator";
}

export type StreamRequest = OutboundRequest & StreamTimes;

export interface Outbound extends Pick<CallerWay, "examine" | "vet" | "reach" | "judged"> {
  /** For `trust: "caller"`, unless it wants the whole, a body longer than `maxReplyBytes`, slow or cut is left where it is. */
  exchange(request: OutboundRequest | CallerRequest): Promise<OutboundReply>;
  /** Comes back with the head of the reply; any status is a reply. */
  open(request: StreamRequest | (CallerRequest & StreamTimes)): Promise<OutboundStream>;
  /** Reads a reply as it comes; the connection is gone when `read` returns. */
  receive<T>(request: CallerRequest & StreamTimes, read: (reply: OutboundStream) => Promise<T>): Promise<T>;
  /** A WebSocket, or what its upgrade was answered with. */
  connect(request: SocketRequest | CallerSocketRequest): Promise<Opened>;
  /** Requests whose first byte left, since the start. */
  dispatched(): number;
  /** Waits for the exchanges under way. */
  close(): Promise<void>;
  /** Cuts the exchanges under way. */
  destroy(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

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
