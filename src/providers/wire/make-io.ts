// Creates an adapter's `Io` for one account: base URL, credential, deadline, and mapping of failures to kinds [providers.failure-kinds].
import { setTimeout as wait } from "node:timers/promises";
import { mapAsyncIterable } from "../../lib/concurrency/map-async-iterable.ts";
import { isEncoded } from "../../lib/is-encoded.ts";
import type { Recognisers } from "../local/recognisers.ts";
import { createMemory, type Memory } from "../memory.ts";
import {
  type CallerRequest,
  GuardRefusal,
  type Outbound,
  OutboundError,
  type OutboundRequest,
} from "../../outbound/dial.ts";
import type { TargetPolicy } from "../../outbound/url-policy.ts";
import {
  asKind,
  type FailureKind,
  ProviderError,
  type RemoteRun,
  type SocketRequest,
  type StreamingIo,
  type WireRequest,
  type WireSocket,
  type WireStream,
} from "../io.ts";
import { type WireReply } from "./wire-reply.ts";
import { failedReply } from "./read-reply.ts";
import { createRetainer, keepLease, type ReplyServices, type ReplyTerms, termsOf } from "./reply-terms.ts";

export interface IoOptions {
  readonly outbound: Outbound;
  readonly replies: ReplyServices;
  /** Absent: short replies, counted as the operator's own. */
  readonly expected?: ReplyTerms;
  /** Precedes the provider's documented path. With or without a trailing slash. */
  readonly baseUrl: string;
  /** The URL was supplied by a caller: each request must satisfy this policy. Absent: it is the operator's. */
  readonly callerPolicy?: TargetPolicy;
  readonly credential: string | null;
  /**
   * Aborts when the caller's work must stop. If the reason is a `ProviderError`, the failure has its kind, so that a timeout that only the gateway can measure
   * (for example of the first content) is reported as one.
   */
  readonly signal: AbortSignal;
  /** From now to the last byte of the last reply. */
  readonly deadlineMs: number;
  /** With `open`: from the call to the head of the reply. */
  readonly firstByteTimeoutMs?: number;
  /** With `open`: the longest wait for a next chunk while the reader is waiting. */
  readonly idleTimeoutMs?: number;
  /** Awaited before each billed request. An error that it throws is thrown instead of sending. */
  readonly beforePaid?: () => Promise<void>;
  /** Called when the first byte of a billed request is sent. */
  readonly onDispatch?: () => void;
  /** With `open`: called whenever bytes of the reply arrive. */
  readonly onReceived?: () => void;
  readonly onRemoteRun?: (run: RemoteRun) => Promise<void>;
  /** Recognition on this machine, for accounts that are not at an address. */
  readonly recognisers?: Pick<Recognisers, "state" | "open">;
  /** Waits for room in a model's queue instead of failing. */
  readonly waitsForRoom?: boolean;
  /** Shared by every `Io` of the process. Without it, cached values last no longer than this `Io`. */
  readonly memory?: Memory;
  readonly nowMs?: () => number;
}

export function createIo(options: IoOptions): StreamingIo {
  // The monotonic clock, because a deadline is a duration.
  const endsAtMs = performance.now() + options.deadlineMs;
  const leftMs = (): number => Math.max(1, Math.round(endsAtMs - performance.now()));
  const memory = options.memory ?? createMemory();
  const keyOf = (name: string): string => accountKey(options, name);
  const { beforePaid, recognisers } = options;
  /** Without the hook, which few callers set, the request begins synchronously. */
  const afterHook = <T>(isFree: boolean | undefined, begin: () => Promise<T>): Promise<T> =>
    isFree === true || beforePaid === undefined ? begin() : beforePaid().then(begin);
  return {
    credential: options.credential,
    ...(recognisers === undefined ? {} : { local: localCalls(recognisers, options, leftMs()) }),
    send: (request) => afterHook(request.isFree, () => send(request, options, leftMs())),
    retain: createRetainer(options),
    open: (request) => afterHook(request.isFree, () => open(request, options, leftMs())),
    connect: (request) => afterHook(false, () => connect(request, options, leftMs())),
    remember: (name, make) => memory.get(keyOf(name), make),
    forget: (name) => memory.forget(keyOf(name)),
    nowMs: options.nowMs ?? Date.now,
    onRemoteRun: async (run) => options.onRemoteRun?.(run),
    pause: async (milliseconds) => {
      const isTooLong = milliseconds >= leftMs();
      try {
        await wait(Math.min(milliseconds, leftMs()), undefined, { signal: options.signal });
      } catch {
        throw options.signal.reason instanceof ProviderError ? options.signal.reason : new ProviderError("aborted");
      }
      if (isTooLong) throw new ProviderError("timeout");
    },
  };
}

/** What runs here is repeatable and costs nothing until it is delivered, so that it is not announced before it begins. */
function localCalls(
  recognisers: Pick<Recognisers, "state" | "open">,
  options: IoOptions,
  timeoutMs: number,
): NonNullable<StreamingIo["local"]> {
  const { signal, waitsForRoom = false, onDispatch } = options;
  const { owner } = termsOf(options);
  return {
    state: () => recognisers.state(),
    open: async (request) => {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(new ProviderError("overloaded", { reason: "too_slow" })), timeoutMs);
      try {
        const session = await recognisers.open(request, {
          signal: AbortSignal.any([signal, late.signal]),
          owner,
          waits: waitsForRoom,
          onDispatch,
        });
        return {
          ...session,
          release: () => {
            clearTimeout(timer);
            session.release();
          },
        };
      } catch (error) {
        clearTimeout(timer);
        throw error;
      }
    },
  };
}

function accountKey({ baseUrl, credential }: IoOptions, name: string): string {
  return JSON.stringify([name, baseUrl, credential]);
}

async function send(request: WireRequest, options: IoOptions, timeoutMs: number): Promise<WireReply> {
  try {
    const { memory } = options.replies;
    const { owner, bound } = termsOf(options);
    const { lease, large, ...reply } = await options.outbound.exchange({
      ...outboundRequest(request, options, timeoutMs),
      maxReplyBytes: Math.min(request.maxReplyBytes ?? bound.maxBytes, bound.maxBytes),
      admission: { memory, owner, maxValues: bound.maxValues },
    });
    using _ = keepLease(lease, options);
    if (large === undefined) return reply;
    const { blocks, sizeBytes } = large;
    // An encoded reply is refused whatever it contains.
    const parsed = isEncoded(reply.headers) ? { body: undefined } : await parse(blocks, options);
    // The text has been released.
    lease?.shrinkTo(lease.bytes - sizeBytes);
    return { ...reply, parsed: { ...parsed, sizeBytes } };
  } catch (error) {
    throw failureOf(error, options);
  }
}

async function parse(
  blocks: readonly Uint8Array<ArrayBuffer>[],
  options: IoOptions,
): Promise<{ readonly body: unknown }> {
  const { signal, replies } = options;
  try {
    return await replies.parser.parse(blocks, { owner: termsOf(options).owner, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw signal.reason instanceof ProviderError ? signal.reason : new ProviderError("aborted");
  }
}

async function open(request: WireRequest, options: IoOptions, timeoutMs: number): Promise<WireStream> {
  const { firstByteTimeoutMs, idleTimeoutMs } = options;
  try {
    const stream = await options.outbound.open({
      ...outboundRequest(request, options, timeoutMs),
      maxReplyBytes: termsOf(options).bound.maxStreamBytes,
      ...(firstByteTimeoutMs === undefined ? {} : { firstByteTimeoutMs }),
      ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    });
    return { ...stream, body: mapFailures(stream.body, options) };
  } catch (error) {
    throw failureOf(error, options);
  }
}

/** Default for how long a provider may leave audio unread, or be silent after the last of it. */
const SOCKET_IDLE_MS = 60_000;

async function connect(request: SocketRequest, options: IoOptions, timeoutMs: number): Promise<WireSocket> {
  const { keepAlive } = request;
  const mapErrors = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw failureOf(error, options);
    }
  };
  const upgrade = await mapErrors(
    options.outbound.connect({
      ...destination(request, options),
      headers: { "user-agent": "patchbay", ...request.headers },
      signal: options.signal,
      timeoutMs,
      idleTimeoutMs: options.idleTimeoutMs ?? SOCKET_IDLE_MS,
      ...(keepAlive === undefined ? {} : { keepAlive }),
      ...(options.onDispatch === undefined ? {} : { onDispatch: options.onDispatch }),
    }),
  );
  if (!upgrade.ok) throw refusedUpgrade(failedReply(upgrade.reply, options.credential));
  const { socket } = upgrade;
  return {
    headers: socket.headers,
    send: (frame) => mapErrors(socket.send(frame)),
    next: () => mapErrors(socket.next()),
    awaitEnd: () => socket.awaitEnd(),
    close: () => socket.close(),
  };
}

/** An upgrade that was refused sent nothing that could be processed. */
function refusedUpgrade(error: ProviderError): ProviderError {
  return error.kind === "unknown" ? asKind(error, "server_error") : error;
}

function mapFailures(body: WireStream["body"], options: IoOptions): WireStream["body"] {
  return mapAsyncIterable(body, {
    each: (chunks) => {
      options.onReceived?.();
      return chunks;
    },
    mapError: (error) => {
      throw failureOf(error, options);
    },
  });
}

function outboundRequest(request: WireRequest, options: IoOptions, timeoutMs: number): OutboundRequest | CallerRequest {
  return {
    ...destination(request, options),
    method: request.method,
    headers: { accept: "application/json", "user-agent": "patchbay", ...request.headers },
    signal: options.signal,
    timeoutMs,
    ...(request.body === undefined ? {} : { body: request.body }),
    ...(options.onDispatch === undefined || request.isFree === true ? {} : { onDispatch: options.onDispatch }),
  };
}

type Destination =
  | Pick<OutboundRequest, "trust" | "url">
  | Pick<CallerRequest, "trust" | "url" | "policy" | "wholeReply">;

function destination(
  request: Pick<WireRequest, "path" | "query" | "siblings" | "withoutVersion">,
  options: IoOptions,
): Destination {
  const { callerPolicy } = options;
  const fullUrl = baseUrlOf(options.baseUrl, request);
  const baseUrl = request.withoutVersion === true ? fullUrl.replace(/\/v1\/*$/u, "") : fullUrl;
  const target = targetOf(request);
  return callerPolicy === undefined
    ? { trust: "operator", url: parsed(baseUrl, target) }
    : { trust: "caller", url: joinUrl(baseUrl, target), policy: callerPolicy, wholeReply: true };
}

/** Most calls use the same few URLs. Those of single runs are used briefly. */
const MAX_PARSED = 256;
/** Longer ones contain a caller's text: 100 key terms make 90 kB. */
const MAX_PARSED_CHARACTERS = 512;
/** Keyed by base URL and target, which are long-lived strings: a concatenated key would be hashed on every look-up. */
const parsedUrls = new Map<string, Map<string, URL>>();
let parsedCount = 0;

function parsed(baseUrl: string, target: string): URL {
  const cached = parsedUrls.get(baseUrl)?.get(target);
  if (cached !== undefined) return cached;
  const text = joinUrl(baseUrl, target);
  const url = new URL(text);
  if (text.length > MAX_PARSED_CHARACTERS) return url;
  if (parsedCount >= MAX_PARSED) {
    parsedUrls.clear();
    parsedCount = 0;
  }
  const ofBase = parsedUrls.get(baseUrl) ?? new Map<string, URL>();
  parsedUrls.set(baseUrl, ofBase.set(target, url));
  parsedCount += 1;
  return url;
}

/** Without a `cause`: the HTTP client's errors may contain raw bytes of the reply. */
function failureOf(error: unknown, { signal }: IoOptions): unknown {
  if (error instanceof GuardRefusal) return new ProviderError("connect", { reason: "address_refused" });
  if (!(error instanceof OutboundError)) return error;
  if (error.failure === "aborted" && signal.reason instanceof ProviderError) return signal.reason;
  return new ProviderError(kindOf(error), { reason: error.reason ?? REASONS[error.failure] });
}

const REASONS: { readonly [F in OutboundError["failure"]]?: string } = {
  reply_too_large: "reply_too_large",
  no_memory: "no_memory",
};

function kindOf(error: OutboundError): FailureKind {
  if (error.failure === "aborted") return "aborted";
  if (!error.dispatched) return "connect";
  switch (error.failure) {
    case "connection":
      return "unknown";
    case "timeout":
      return "timeout";
    // The reply arrived and was not read: the work may have been done and billed.
    case "no_memory":
      return "unknown";
    case "reply_too_large":
      return "bad_reply";
  }
}

function baseUrlOf(baseUrl: string, { siblings = [] }: Pick<WireRequest, "siblings">): string {
  if (siblings.length === 0) return baseUrl;
  const { hostname } = new URL(baseUrl);
  return siblings.find(({ domain }) => hostname.endsWith(`.${domain}`))?.origin ?? baseUrl;
}

/** Path and query. */
function targetOf({ path, query = [] }: Pick<WireRequest, "path" | "query">): string {
  if (query.length === 0) return path;
  return `${path}?${query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")}`;
}

function joinUrl(baseUrl: string, target: string): string {
  return baseUrl.replace(/\/+$/, "") + target;
}
