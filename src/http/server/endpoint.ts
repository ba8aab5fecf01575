// What a handler receives and returns. `serve.ts` is the frame around it: key, scope, limits, errors.
import type { EndpointContract } from "../../contract/endpoints/endpoint.ts";
import type { RequestId } from "../../contract/ids.ts";
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { Recorder } from "../../gateway/request-record.ts";
import type { ServerEvents } from "../reply/sse.ts";
import type { Exchange } from "./exchange.ts";
import type { RunSession } from "../socket/upgrade.ts";

/** The minimum that the edge must know about a caller. */
export interface EdgePrincipal {
  readonly scopes: readonly string[];
  readonly key?: { readonly role: string };
}

/** What a handler sees of its exchange. `raw` is the unread body. */
export type HttpRequest = Pick<Exchange, "id" | "raw" | "method" | "headers" | "params" | "query">;

export interface HandlerContext<P extends EdgePrincipal = EdgePrincipal> {
  readonly requestId: RequestId;
  readonly request: HttpRequest;
  /** The name of the endpoint in records and idempotency slots. */
  readonly endpoint: string;
  /** Null exactly where the contract has `auth: "none"`. */
  readonly principal: P | null;
  /** Re-authenticates the caller, for long-lived responses. Rejects with the error that the same request would get now. */
  readonly callerNow: () => Promise<P>;
  /** Aborts when the client disconnects, or when the exchange was cut (slow or broken body). */
  readonly clientGone: AbortSignal;
  /** Memory for large responses is reserved here before they are built. */
  readonly room: AnswerRoom;
  /** When the head was complete, in milliseconds since the epoch. */
  readonly receivedAtMs: number;
  /** Null unless the contract has `isRouted`. */
  readonly recorder: Recorder | null;
}

export type ReplyBody =
  | { readonly json: unknown }
  | { readonly text: string; readonly contentType: string }
  | { readonly bytes: Buffer; readonly contentType: string }
  /** Sent one after the other, to avoid copying them into one buffer. Owned by this response: their memory is freed after it. */
  | { readonly pieces: readonly Buffer[]; readonly contentType: string }
  /** Sent as they arrive, with status 200. `held` is disposed after the last event; until then the request counts as running. */
  | {
      readonly events: AsyncIterable<ServerEvents>;
      readonly held?: Disposable | AsyncDisposable;
      /** The first event is late: a ping is sent with the status line. */
      readonly startsWithPing?: boolean;
    }
  /** A WebSocket. `release` is called when it has ended, or if it never opened. */
  | { readonly session: RunSession; readonly release: () => Promise<void> };

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

export interface Endpoint<P extends EdgePrincipal = EdgePrincipal> {
  readonly contract: EndpointContract;
  readonly handle: (context: HandlerContext<P>) => Promise<Reply>;
}

/** An endpoint that accepts another credential in addition to the key in `Authorization`. */
export interface EndpointWithToken<P extends EdgePrincipal> extends Endpoint<P> {
  /** Null: this request has no such credential. */
  readonly authenticate: (request: HttpRequest) => Promise<TokenCaller<P>> | null;
}

export interface TokenCaller<P extends EdgePrincipal> {
  readonly principal: P;
  /** Re-authenticates the key behind the token. Rejects once it is invalid. */
  readonly authenticate: () => Promise<P>;
}

/** The caller of an endpoint with `auth: "key"`, which the frame has authenticated before the handler runs. */
export function principalOf<P extends EdgePrincipal>(context: HandlerContext<P>): P {
  if (context.principal === null) throw new Error("a handler without a key asked for its principal");
  return context.principal;
}

/** The recorder of a routed endpoint: the frame has opened its record. */
export function recorderOf(context: Pick<HandlerContext, "recorder">): Recorder {
  if (context.recorder === null) throw new Error("a handler that leaves no record asked for its recorder");
  return context.recorder;
}
