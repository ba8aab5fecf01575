// An adapter's `Io` on one account: its base URL, its secret, the attempt's deadline, and failures by kind [providers.failure-kinds].
import { setTimeout as wait } from "node:timers/promises";
import { mapAsyncIterable } from "../lib/concurrency/map-async-iterable.ts";
import { isEncoded } from "../lib/is-encoded.ts";
import { createMemory, type Memory } from "./memory.ts";
import {
  type CallerRequest,
  GuardRefusal,
  type Outbound,
  OutboundError,
  type OutboundRequest,
} from "../outbound/dial.ts";
import type { TargetPolicy } from "../outbound/target-policy.ts";
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
} from "./io.ts";
import { type WireReply } from "./wire-reply.ts";
import { failedReply } from "./read-reply.ts";
import { createRetainer, keepLease, type ReplyServices, type ReplyTerms, termsOf } from "./reply-terms.ts";

export interface IoOptions {
  readonly outbound: Outbound;
  readonly replies: ReplyServices;
  /** Absent: short ones, which count as the operator's own. */
  readonly expected?: ReplyTerms;
  /** What precedes the provider's documented path; with or without a slash at its end. */
  readonly baseUrl: string;
  /** The address is not the operator's: each request goes by these rules. Absent: it is. */
  readonly callerPolicy?: TargetPolicy;
  readonly credential: string | null;
  /**
   * Aborts when the caller's work is to stop. Aborted with a `ProviderError` as its reason, the failure is of that kind:
   * so a wait that only the gateway can time (for a first content, say) ends as the timeout it is.
   */
  readonly signal: AbortSignal;
  /** From now to the last byte of the last reply. */
  readonly deadlineMs: number;
  /** With `open`: from the call to the head of the reply. */
  readonly firstByteTimeoutMs?: number;
  /** With `open`: the longest wait for a next chunk while somebody wants it. */
  readonly idleTimeoutMs?: number;
  /** Awaited before each request that is not free; what it throws is thrown instead of sending. */
  readonly beforePaid?: () => Promise<void>;
  /** Called as the first byte of a request that is not free leaves. */
  readonly onDispatch?: () => void;
  /** With `open`: called whenever bytes of the reply came. */
  readonly onReceived?: () => void;
  readonly onRemoteRun?: (run: RemoteRun) => Promise<void>;
  /** Shared by every `Io` of the process; without it nothing is remembered beyond this one. */
  readonly memory?: Memory;
  readonly nowMs?: () => number;
}

export function createIo(options: IoOptions): StreamingIo {
  // By the clock that nobody sets: a deadline is a length of time.
  const endsAtMs = performance.now() + options.deadlineMs;
  const leftMs = (): number => Math.max(1, Math.round(endsAtMs - performance.now()));
  const memory = options.memory ?? createMemory();
  const keyOf = (name: string): string => accountKey(options, name);
  const { beforePaid } = options;
  /** Few have somebody to tell first. */
  const announced = <T>(isFree: boolean | undefined, begin: () => Promise<T>): Promise<T> =>
    isFree === true || beforePaid === undefined ? begin() : beforePaid().then(begin);
  return {
    credential: options.credential,
    send: (request) => announced(request.isFree, () => send(request, options, leftMs())),
    retain: createRetainer(options),
    open: (request) => announced(request.isFree, () => open(request, options, leftMs())),
    connect: (request) => announced(false, () => connect(request, options, leftMs())),
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
    // It is refused for that, whatever it says.
    const parsed = isEncoded(reply.headers) ? { body: undefined } : await parse(blocks, options);
    // Of the text nothing is left.
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
    return { ...stream, body: withFailures(stream.body, options) };
  } catch (error) {
    throw failureOf(error, options);
  }
}

/** How long a provider may leave audio untaken, or say nothing after the last of it, unless the caller says otherwise. */
const SOCKET_IDLE_MS = 60_000;

async function connect(request: SocketRequest, options: IoOptions, timeoutMs: number): Promise<WireSocket> {
  const { keepAlive } = request;
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw failureOf(error, options);
    }
  };
  const opened = await guarded(
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
  if (!opened.ok) throw refusedUpgrade(failedReply(opened.reply, options.credential));
  const { socket } = opened;
  return {
    headers: socket.headers,
    send: (frame) => guarded(socket.send(frame)),
    next: () => guarded(socket.next()),
    awaitEnd: () => socket.awaitEnd(),
    close: () => socket.close(),
  };
}

/** Nothing was sent that could be worked on. */
function refusedUpgrade(error: ProviderError): ProviderError {
  return error.kind === "unknown" ? asKind(error, "server_error") : error;
}

function withFailures(body: WireStream["body"], options: IoOptions): WireStream["body"] {
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
  const given = baseUrlOf(options.baseUrl, request);
  const baseUrl = request.withoutVersion === true ? given.replace(/\/v1\/*$/u, "") : given;
  const target = targetOf(request);
  return callerPolicy === undefined
    ? { trust: "operator", url: parsed(baseUrl, target) }
    : { trust: "caller", url: joined(baseUrl, target), policy: callerPolicy, wholeReply: true };
}

/** Most calls go to the same few addresses; those of single runs come and go. */
const MAX_PARSED = 256;
/** Longer ones hold what a caller said, and 100 words of it make 90 kB. */
const MAX_PARSED_CHARACTERS = 512;
/** By base URL and target, which are texts that stay: one joined for each look-up would be hashed anew. */
const parsedUrls = new Map<string, Map<string, URL>>();
let parsedCount = 0;

function parsed(baseUrl: string, target: string): URL {
  const known = parsedUrls.get(baseUrl)?.get(target);
  if (known !== undefined) return known;
  const text = joined(baseUrl, target);
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

/** Without a `cause`: the client's errors may hold raw bytes of the reply. */
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
    // The answer is there and was not read: the work may have been done and paid.
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

function joined(baseUrl: string, target: string): string {
  return baseUrl.replace(/\/+$/, "") + target;
}
