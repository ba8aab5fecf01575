// The side effects of an adapter: HTTP exchanges and sockets on one account, and the kinds of failure.
import type { OpenBytes } from "../lib/open-bytes.ts";
import type { WireFrame } from "../outbound/dial.ts";
import type { LocalCalls } from "./local/local-calls.ts";
import type { CachedValue } from "./memory.ts";
import type { Receipt } from "./receipt.ts";
import type { ProviderFailure } from "./wire/provider-failure.ts";
import type { WireReply } from "./wire/wire-reply.ts";

/** Why an attempt failed. Only `gateway/calls/judge-failure.ts` decides what the kind means for the request. */
export type FailureKind =
  /** No byte of the request was sent: DNS, TCP, TLS, connect timeout. Or a free upload was interrupted, which starts no work. */
  | "connect"
  /** 400, 411, 413, 414, 415, 422, 431: the provider does not accept this input. */
  | "rejected"
  /** 401, 403. */
  | "unauthorized"
  /** 402, or a 429 that reports an account without credit. */
  | "payment"
  | "not_found"
  | "rate_limited"
  /** 5xx except 502 and 504, and any other status of 400 and above. */
  | "server_error"
  /** An invalid success: an error body, unparseable JSON, a body without the protocol's fields. */
  | "bad_reply"
  /** A required feature is missing from the answer. */
  | "feature_dropped"
  /** A model on this machine has no room: its queue is full, or there is not enough memory. Nothing is wrong with it. */
  | "overloaded"
  /** 408, 499, 502, 504, or a reset or end of stream after the first request byte. */
  | "unknown"
  /** The deadline passed after the first request byte. */
  | "timeout"
  /** The caller disconnected and the work was stopped. */
  | "aborted";

interface ProviderErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** For operators: an error code of the provider or the system. Never the provider's free text, never a credential. */
  readonly reason?: string | undefined;
  /** The provider's own description, which goes only to the request's record. */
  readonly provider?: ProviderFailure | undefined;
  /** Receipts of the withheld answer that are recorded with the attempt. */
  readonly receipts?: readonly Receipt[] | undefined;
  readonly cause?: unknown;
}

/** The only error that an adapter throws. Its message contains kind and status, and nothing that the provider wrote. */
export class ProviderError extends Error {
  readonly kind: FailureKind;
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;
  readonly reason: string | null;
  readonly receipts: readonly Receipt[];
  /** Private, so that a logger that prints the error does not print the provider's text. */
  readonly #provider: ProviderFailure | null;

  constructor(kind: FailureKind, options: ProviderErrorOptions = {}) {
    super(`provider failure: ${kind}${options.status === undefined ? "" : ` (HTTP ${options.status})`}`, {
      cause: options.cause,
    });
    this.name = "ProviderError";
    this.kind = kind;
    this.status = options.status ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.reason = options.reason ?? null;
    this.receipts = options.receipts ?? [];
    this.#provider = options.provider ?? null;
  }

  get provider(): ProviderFailure | null {
    return this.#provider;
  }
}

/** The same failure with another kind, if its meaning is known better. `step` is used if it has no reason of its own. */
export function asKind(error: ProviderError, kind: FailureKind, step?: string): ProviderError {
  const { status, retryAfterSeconds, reason, provider, receipts } = error;
  return new ProviderError(kind, {
    status: status ?? undefined,
    retryAfterSeconds: retryAfterSeconds ?? undefined,
    reason: reason ?? step,
    provider: provider ?? undefined,
    receipts,
  });
}

/** The same failure with the provider's own reason. */
export function withProvider(error: ProviderError, provider: ProviderFailure): ProviderError {
  const { kind, status, retryAfterSeconds, reason, receipts } = error;
  return new ProviderError(kind, {
    status: status ?? undefined,
    retryAfterSeconds: retryAfterSeconds ?? undefined,
    reason: reason ?? undefined,
    provider: error.provider ?? provider,
    receipts,
  });
}

export interface WireRequest {
  readonly method: "GET" | "POST" | "DELETE" | "OPTIONS";
  /** Appended to the connection's base URL. Begins with a slash. */
  readonly path: string;
  /** Removes a `/v1` at the end of the base URL. */
  readonly withoutVersion?: boolean;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: WireBody;
  /** An upload, a poll or a deletion, for which the provider does no work and bills nothing. Does not count as dispatched. */
  readonly isFree?: boolean;
  /** Other hosts of the provider: the first with a domain that contains the base URL's host is used. With any other base URL all paths are on one host. */
  readonly siblings?: readonly { readonly domain: string; readonly origin: string }[];
  /** Limit of a buffered reply if lower than that of its `Io`. A longer one is a `bad_reply`. */
  readonly maxReplyBytes?: number;
}
/** `sizeBytes` is exact: it is sent as the Content-Length. */
export interface WireBody {
  readonly sizeBytes: number;
  /** The bytes that `open` yields, if they are in memory in one piece. */
  readonly bytes?: Uint8Array;
  readonly open: OpenBytes;
}

/** A run that a provider accepted and processes asynchronously. It is stored before its first poll [providers.run-before-poll]. */
export interface RemoteRun {
  /** The provider's own id. */
  readonly id: string;
  /** Data that the adapter needs to poll and remove it, in addition to the id. No secret, no audio, no transcript. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

export interface Io {
  /** The account's secret, for the adapter to put where its protocol requires it. Null for servers without one. */
  readonly credential: string | null;
  /** Sends one request. Throws a `ProviderError` of kind `connect`, `unknown`, `timeout` or `aborted`. Any status is a reply. */
  readonly send: (request: WireRequest) => Promise<WireReply>;
  /** Awaited after a provider accepted a run and before its first poll, so that the run can be stored and found after a crash. */
  readonly onRemoteRun: (run: RemoteRun) => Promise<void>;
  /** Sleeps. The attempt's signal or deadline ends it early and throws as in `send`. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** The result of `make` for this account, shared by its calls in this process until it expires. */
  readonly remember: (name: string, make: () => Promise<CachedValue>) => Promise<string>;
  readonly forget: (name: string) => void;
  /** The current time, for timestamps that a provider is sent. */
  readonly nowMs: () => number;
  /** Recognition on this machine. Absent: the account is at an address. */
  readonly local?: LocalCalls;
}

/** A reply with a streamed body. */
export interface WireStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Can be read once, each step yields all that arrived. Throws a `ProviderError` of kind `unknown`, `timeout`, `aborted` or `bad_reply` (too large) if it
   * breaks. Back-pressure: unread bytes are not buffered. Leaving the loop closes the connection.
   */
  readonly body: AsyncIterable<readonly Uint8Array[]>;
}

/** A request to upgrade to a WebSocket. */
export interface SocketRequest extends Pick<WireRequest, "path" | "query" | "headers" | "siblings"> {
  /** Sent when no frame was sent for a while after the first audio. */
  readonly keepAlive?: { readonly text: string; readonly everyMs: number };
}

export type WireMessage =
  | { readonly kind: "text"; readonly text: string }
  /** The provider closed the connection. `dispatched`: audio had been sent by then. */
  | { readonly kind: "close"; readonly code: number; readonly reason: string; readonly dispatched: boolean };

export type { WireFrame };

/** Throws a `ProviderError` of kind `unknown`, `timeout` or `aborted` if it breaks, and `connect` while no audio was sent. */
export interface WireSocket {
  /** Headers of the upgrade's reply. */
  readonly headers: Readonly<Record<string, string>>;
  /** Resolves when the frame was sent. Only audio counts as dispatched: binary frames and `audioText`. */
  readonly send: (frame: WireFrame) => Promise<void>;
  readonly next: () => Promise<WireMessage>;
  /** No more frames will be sent: from now on the idle timeout runs. */
  readonly awaitEnd: () => void;
  readonly close: () => void;
}

export interface StreamingIo extends Io {
  /**
   * Reserves memory for what is kept of a stream until its end. Waits if the budget of replies has no room, and throws a `bad_reply` if the answer exceeds its
   * bound.
   */
  readonly retain: (bytes: number) => Promise<void> | void;
  /** Sends one request and resolves with the head of its reply. Fails as `send` does. */
  readonly open: (request: WireRequest) => Promise<WireStream>;
  /** Throws a refused upgrade by its status. The failure is definite, because nothing was sent that could be processed. */
  readonly connect: (request: SocketRequest) => Promise<WireSocket>;
}
