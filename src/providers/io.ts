// What an adapter may do to the outside: one HTTP exchange on the account it was given, and the failures that can come of it.
import type { OpenBytes } from "../lib/open-bytes.ts";
import type { Remembered } from "./memory.ts";
import type { ProviderFailure } from "./provider-failure.ts";
import type { WireReply } from "./wire-reply.ts";

/** Why an attempt failed. What that means for the request is decided from the kind in `gateway/calls/judge-failure.ts` alone. */
export type FailureKind =
  /** No byte of the request left: DNS, TCP, TLS, connect timeout. Or only an upload that nobody works on broke off. */
  | "connect"
  /** 400, 411, 413, 414, 415, 422, 431: this input is not acceptable there. */
  | "rejected"
  /** 401, 403. */
  | "unauthorized"
  /** 402, or 429 that says the account is out of credit. */
  | "payment"
  | "not_found"
  | "rate_limited"
  /** 5xx but 502 and 504; any other status of 400 and above. */
  | "server_error"
  /** A success that is no success: an error body, unparseable JSON, a body without the fields of the protocol. */
  | "bad_reply"
  /** A required feature is missing from the answer. */
  | "feature_dropped"
  /** 408, 499, 502, 504; reset or end of stream after the first request byte. */
  | "unknown"
  /** The deadline passed after the first request byte. */
  | "timeout"
  /** The caller hung up and the work was stopped. */
  | "aborted";

interface ProviderErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** For operators: a provider's error code or a system error code. Never the provider's free text, never a credential. */
  readonly reason?: string | undefined;
  /** The provider's own account; goes to the request's record and nowhere else. */
  readonly provider?: ProviderFailure | undefined;
  readonly cause?: unknown;
}

/** The only error an adapter throws. Its message names the kind and status and nothing the provider wrote. */
export class ProviderError extends Error {
  readonly kind: FailureKind;
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;
  readonly reason: string | null;
  /** Private, so that no logger that prints the error prints what the provider wrote. */
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
    this.#provider = options.provider ?? null;
  }

  get provider(): ProviderFailure | null {
    return this.#provider;
  }
}

/** The same failure under another kind, where more is known of what it means; `step` where it has no reason of its own. */
export function asKind(error: ProviderError, kind: FailureKind, step?: string): ProviderError {
  const { status, retryAfterSeconds, reason, provider } = error;
  return new ProviderError(kind, {
    status: status ?? undefined,
    retryAfterSeconds: retryAfterSeconds ?? undefined,
    reason: reason ?? step,
    provider: provider ?? undefined,
  });
}

export interface WireRequest {
  readonly method: "GET" | "POST" | "DELETE" | "OPTIONS";
  /** Appended to the connection's base URL; begins with a slash. */
  readonly path: string;
  /** The base URL counts without the `/v1` at its end. */
  readonly withoutVersion?: boolean;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: WireBody;
  /** The provider does no work for it and bills nothing: an upload, a poll, a deletion. It does not count as dispatched. */
  readonly isFree?: boolean;
  /**
   * Other hosts of the provider's: the first in whose domain the base URL lies is used; behind any other base URL all paths are in
   * one place.
   */
  readonly siblings?: readonly { readonly domain: string; readonly origin: string }[];
  /** Of a reply that is read whole, where it is less than its `Io` allows. A longer one is a `bad_reply`. */
  readonly maxReplyBytes?: number;
}
/** `sizeBytes` is exact: it becomes the Content-Length. */
export interface WireBody {
  readonly sizeBytes: number;
  /** The same bytes that `open` yields, where they are in memory in one piece. */
  readonly bytes?: Uint8Array;
  readonly open: OpenBytes;
}

/** A run that a provider accepted and works on by itself. It is stored before its first poll [providers.run-before-poll]. */
export interface RemoteRun {
  /** The provider's own id. */
  readonly id: string;
  /** What the adapter needs to poll and remove it besides the id; no secret, no audio, no transcript. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

export interface Io {
  /** The account's secret, for the adapter to put where its protocol wants it; null for servers without one. */
  readonly credential: string | null;
  /** Sends one request. Throws `ProviderError` `connect`, `unknown`, `timeout` or `aborted`; any status is a reply. */
  readonly send: (request: WireRequest) => Promise<WireReply>;
  /** Awaited after a provider took a run and before its first poll: whoever must find it after a crash keeps it now. */
  readonly onRemoteRun: (run: RemoteRun) => Promise<void>;
  /** Waits; cut short by the attempt's signal or deadline, which then throws as `send` would. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** What `make` gave for this account, shared by its calls in this process until it expires. */
  readonly remember: (name: string, make: () => Promise<Remembered>) => Promise<string>;
  readonly forget: (name: string) => void;
  /** What time it is, for what a provider is told of it. */
  readonly nowMs: () => number;
}

/** A reply whose body is read as it comes. */
export interface WireStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * To be read once: each time all that has come. Throws `ProviderError` `unknown`, `timeout`, `aborted` or `bad_reply` (too
   * large) where it breaks. Unread bytes are not gathered: the provider is made to wait. Leaving the loop gives the connection up.
   */
  readonly body: AsyncIterable<readonly Uint8Array[]>;
}

/** An upgrade to a WebSocket. */
export interface SocketRequest extends Pick<WireRequest, "path" | "query" | "headers" | "siblings"> {
  /** Sent when no frame went out for a while after the first audio. */
  readonly keepAlive?: { readonly text: string; readonly everyMs: number };
}

export type WireMessage =
  | { readonly kind: "text"; readonly text: string }
  /** The provider said goodbye; `dispatched`: it had audio by then. */
  | { readonly kind: "close"; readonly code: number; readonly reason: string; readonly dispatched: boolean };

/** Throws `ProviderError` `unknown`, `timeout` or `aborted` where it breaks, and `connect` as long as no audio was sent. */
export interface WireSocket {
  /** Of the upgrade's answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Resolves when the frame has left. Only binary frames, which are audio, count as dispatched. */
  readonly send: (frame: string | Uint8Array) => Promise<void>;
  readonly next: () => Promise<WireMessage>;
  /** Nothing more will be sent: from now on silence is timed. */
  readonly awaitEnd: () => void;
  readonly close: () => void;
}

export interface StreamingIo extends Io {
  /**
   * Counts what of a stream is kept until its end. Waits where the budget of replies has no room for it, and throws a `bad_reply` where
   * it is more than was asked for.
   */
  readonly retain: (bytes: number) => Promise<void> | void;
  /** Sends one request and comes back with the head of its reply; fails as `send` does. */
  readonly open: (request: WireRequest) => Promise<WireStream>;
  /** A refused upgrade is thrown by its status, and is definite: nothing was sent that could be worked on. */
  readonly connect: (request: SocketRequest) => Promise<WireSocket>;
}
