// Sends requests to caller-supplied URLs: the guard vets the target, then one connection to the vetted address serves one request. A pooled connection would
// have been vetted at another time.
import type { Socket } from "node:net";
import { Client, type Dispatcher } from "undici";
import type { Guard } from "./guard.ts";
import { HTTP_OPTIONS } from "./http-options.ts";
import type { WireSocketRequest } from "./socket.ts";
import { type Chunks, type OutboundStream, StreamReply, type StreamTimes } from "./stream-reply.ts";
import type { TargetPolicy } from "./url-policy.ts";
import { OutboundError, type WireRequest } from "./wire-call.ts";

/** A request to a caller-supplied URL. Throws `GuardRefusal` when the policy or the address rules forbid it. */
export interface CallerRequest extends Omit<WireRequest, "url" | "pathAndQuery"> {
  readonly trust: "caller";
  /** The caller's own text, because the guard judges it before any parser normalizes it. */
  readonly url: string;
  readonly policy: TargetPolicy;
  /** The reply counts only with its whole body, as a provider's does: a truncated one is an error. Absent: the status decides. */
  readonly wholeReply?: true;
}

/** A WebSocket to a caller-supplied URL. */
export interface CallerSocketRequest
  extends Omit<WireSocketRequest, "url" | "connection">,
    Pick<CallerRequest, "trust" | "url" | "policy"> {}

type Send = <T>(
  request: CallerRequest & StreamTimes,
  work: (dispatcher: Dispatcher, wire: WireRequest & StreamTimes) => Promise<T>,
) => Promise<T>;

export interface GuardedRequests {
  readonly send: Send;
  /** The connection stays open while the reply is read, at most for the request's timeout. */
  open(request: CallerRequest & StreamTimes, count: () => void): Promise<OutboundStream>;
  /** Returns the request with a connection to the vetted address. */
  vetted(request: CallerSocketRequest): Promise<WireSocketRequest>;
  /** Reports the result of each rule for a target without sending a request. */
  readonly examine: Guard["examine"];
  /** Throws what a request to the target would be refused with, without connecting. */
  readonly vet: (url: string, policy: TargetPolicy) => Promise<void>;
  /** Vets the target and connects to it, but sends nothing. */
  readonly reach: (url: string, policy: TargetPolicy, signal?: AbortSignal) => Promise<void>;
  /** Targets that the guard judged since the start: one per request, `examine`, `vet` and `reach`. */
  readonly judged: () => number;
  /** Waits for pending requests. */
  close(): Promise<void>;
  /** Destroys the sockets of pending requests. */
  destroy(): Promise<void>;
}

export function createGuardedRequests(guard: Guard | null): GuardedRequests {
  const pending = new Set<Promise<unknown>>();
  const sockets = new Set<Socket>();

  const requireGuard = (): Guard => {
    if (guard === null) throw new Error("this way out has no resolver and no connector for callers' addresses");
    return guard;
  };

  const dial = async (url: string, policy: TargetPolicy, signal: AbortSignal | undefined) =>
    requireGuard()
      .dial(url, policy, signal)
      .catch((error: unknown) => {
        throw signal?.aborted === true ? new OutboundError("aborted", false, null) : error;
      });

  const sendOne: Send = async (request, work) => {
    const { url: _url, policy: _policy, trust: _trust, ...rest } = request;
    const startedMs = performance.now();
    const { target, socket } = await dial(request.url, request.policy, request.signal);
    const client = new Client(target.url.origin, { ...HTTP_OPTIONS, connect: singleUseConnector(socket) });
    sockets.add(socket);
    const timeout = rest.timeoutMs === undefined ? {} : { timeoutMs: rest.timeoutMs - (performance.now() - startedMs) };
    try {
      return await work(client, { ...rest, ...timeout, url: target.url, pathAndQuery: target.pathAndQuery });
    } finally {
      sockets.delete(socket);
      socket.destroy();
      await client.destroy();
    }
  };

  const waitForPending = async (): Promise<void> => {
    await Promise.allSettled(pending);
  };

  const send: Send = (request, work) => {
    const sending = sendOne(request, work);
    pending.add(sending);
    const forget = (): void => void pending.delete(sending);
    sending.then(forget, forget);
    return sending;
  };

  return {
    send,
    open: (request, count) => {
      const opening = Promise.withResolvers<OutboundStream>();
      const exchange = send(request, async (dispatcher, wire) => {
        const stream = await new StreamReply(wire, count).open(dispatcher);
        const { body, read } = trackReading(stream.body, wire);
        opening.resolve({ ...stream, body });
        await read;
      });
      exchange.catch(opening.reject);
      return opening.promise;
    },
    vetted: async ({ url, policy, trust: _trust, ...rest }) => {
      const { target, socket } = await dial(url, policy, rest.signal);
      return { ...rest, url: target.url, connection: socket };
    },
    examine: (url, policy, signal) => requireGuard().examine(url, policy, signal),
    vet: async (url, policy) => {
      await requireGuard().vet(url, policy);
    },
    reach: async (url, policy, signal) => {
      const { socket } = await dial(url, policy, signal);
      socket.destroy();
    },
    judged: () => guard?.judged() ?? 0,
    close: waitForPending,
    destroy: async () => {
      for (const socket of sockets) socket.destroy();
      await waitForPending();
    },
  };
}

/** `read` resolves when the body has been read, the request's timeout has elapsed or its signal aborts. */
function trackReading(
  body: OutboundStream["body"],
  { timeoutMs, signal }: Pick<WireRequest, "timeoutMs" | "signal">,
): { readonly body: OutboundStream["body"]; readonly read: Promise<void> } {
  const { promise: read, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end, { once: true });
  async function* trackedBody(): AsyncGenerator<Chunks, void, undefined> {
    try {
      yield* body;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      end();
    }
  }
  return { body: trackedBody(), read };
}

/** A connector that returns one connection and fails when asked for another. */
function singleUseConnector(socket: Socket): NonNullable<Client.Options["connect"]> {
  let isTaken = false;
  return (_options, callback) => {
    if (isTaken) return callback(new Error("one connection for one request"), null);
    isTaken = true;
    // Deferred, because the client asks while it is about to send and would not notice a connection that is returned synchronously.
    queueMicrotask(() => callback(null, socket));
  };
}
