// The way to addresses that somebody else supplied: vetted by the guard, then one connection for one request, to what was vetted for
// it. A pooled one would be vetted for another moment.
import type { Socket } from "node:net";
import { Client, type Dispatcher } from "undici";
import type { Guard } from "./guard.ts";
import { HTTP_OPTIONS } from "./http-options.ts";
import type { WireSocketRequest } from "./socket.ts";
import { type Chunks, type OutboundStream, StreamReply, type StreamTimes } from "./stream-reply.ts";
import type { TargetPolicy } from "./target-policy.ts";
import { OutboundError, type WireRequest } from "./wire-call.ts";

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
  extends Omit<WireSocketRequest, "url" | "connection">,
    Pick<CallerRequest, "trust" | "url" | "policy"> {}

type Send = <T>(
  request: CallerRequest & StreamTimes,
  work: (dispatcher: Dispatcher, wire: WireRequest & StreamTimes) => Promise<T>,
) => Promise<T>;

export interface CallerWay {
  readonly send: Send;
  /** The connection lasts as long as somebody reads the reply, and no longer than the request's time. */
  open(request: CallerRequest & StreamTimes, count: () => void): Promise<OutboundStream>;
  /** The same request with a connection to what was vetted for it. */
  vetted(request: CallerSocketRequest): Promise<WireSocketRequest>;
  /** Tells of each rule what a request to a target would meet, without one. */
  readonly examine: Guard["examine"];
  /** Judges a target as a request to it would, without one. */
  readonly vet: (url: string, policy: TargetPolicy) => Promise<void>;
  /** Judges it and connects as a request to it would, and sends nothing. */
  readonly reach: (url: string, policy: TargetPolicy, signal?: AbortSignal) => Promise<void>;
  /** Targets that the guard judged, since the start: one for every request, `examine`, `vet` and `reach`. */
  readonly judged: () => number;
  /** Waits for the requests under way. */
  close(): Promise<void>;
  /** Cuts them. */
  destroy(): Promise<void>;
}

export function createCallerWay(guard: Guard | null): CallerWay {
  const underWay = new Set<Promise<unknown>>();
  const sockets = new Set<Socket>();

  const present = (): Guard => {
    if (guard === null) throw new Error("this way out has no resolver and no connector for callers' addresses");
    return guard;
  };

  const dial = async (url: string, policy: TargetPolicy, signal: AbortSignal | undefined) =>
    present()
      .dial(url, policy, signal)
      .catch((error: unknown) => {
        throw signal?.aborted === true ? new OutboundError("aborted", false, null) : error;
      });

  const sendOne: Send = async (request, work) => {
    const { url: _url, policy: _policy, trust: _trust, ...rest } = request;
    const startedMs = performance.now();
    const { target, socket } = await dial(request.url, request.policy, request.signal);
    const client = new Client(target.url.origin, { ...HTTP_OPTIONS, connect: once(socket) });
    sockets.add(socket);
    const leftMs = rest.timeoutMs === undefined ? {} : { timeoutMs: rest.timeoutMs - (performance.now() - startedMs) };
    try {
      return await work(client, { ...rest, ...leftMs, url: target.url, pathAndQuery: target.pathAndQuery });
    } finally {
      sockets.delete(socket);
      socket.destroy();
      await client.destroy();
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
      const { target, socket } = await dial(url, policy, rest.signal);
      return { ...rest, url: target.url, connection: socket };
    },
    examine: (url, policy, signal) => present().examine(url, policy, signal),
    vet: async (url, policy) => {
      await present().vet(url, policy);
    },
    reach: async (url, policy, signal) => {
      const { socket } = await dial(url, policy, signal);
      socket.destroy();
    },
    judged: () => guard?.judged() ?? 0,
    close: ended,
    destroy: async () => {
      for (const socket of sockets) socket.destroy();
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
  async function* reading(): AsyncGenerator<Chunks, void, undefined> {
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
