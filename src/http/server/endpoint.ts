// What a handler is given and what it answers. The frame around it (key, scope, limits, errors) is `serve.ts`.
import type { FastifyRequest } from "fastify";
import type { EndpointContract } from "../../contract/endpoint.ts";
import type { RequestId } from "../../contract/ids.ts";
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { MaybePromise } from "../../lib/concurrency/maybe-promise.ts";
import type { Recorder } from "../../gateway/request-record.ts";
import type { ServerEvents } from "../reply/sse.ts";
import type { RunSession } from "../socket/upgrade.ts";

/** The least that the edge must know of whoever calls. */
export interface EdgePrincipal {
  readonly scopes: readonly string[];
  readonly key?: { readonly role: string };
}

export interface HandlerContext<P extends EdgePrincipal = EdgePrincipal> {
  readonly requestId: RequestId;
  /** `request.raw` is the unread body. */
  readonly request: FastifyRequest;
  /** As records and idempotency slots name it. */
  readonly endpoint: string;
  /** Null exactly where the contract says `auth: "none"`. */
  readonly principal: P | null;
  /** As its key stands by now, for an answer that lasts; rejects with what the same request would be refused with. */
  readonly callerNow: () => Promise<P>;
  /** Aborts when nobody is left to answer: the caller hung up, or the exchange was cut (slow or broken body). */
  readonly clientGone: AbortSignal;
  /** What makes a large answer reserves memory for it first. */
  readonly room: AnswerRoom;
  /** When the head was complete, since the epoch. */
  readonly receivedAtMs: number;
  /** Null where the contract does not say `isRouted`. */
  readonly recorder: Recorder | null;
}

export type ReplyBody =
  | { readonly json: unknown }
  | { readonly text: string; readonly contentType: string }
  | { readonly bytes: Buffer; readonly contentType: string }
  /** One after the other, where one buffer of them all would be a copy. They are this answer's alone: their memory is freed behind it. */
  | { readonly pieces: readonly Buffer[]; readonly contentType: string }
  /** Sent as they come; the status is 200. What is held is let go of behind the last: so long the request counts as running. */
  | {
      readonly events: AsyncIterable<ServerEvents>;
      readonly held?: Disposable | AsyncDisposable;
      /** The first event is late: a ping goes out with the status line. */
      readonly startsWithPing?: boolean;
    }
  /** A WebSocket; `release` is called when it is over, or never came to be. */
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

/** One with another way in than the key in `Authorization`. */
export interface EndpointWithToken<P extends EdgePrincipal> extends Endpoint<P> {
  /** null: this request does not take it. */
  readonly authenticate: (request: FastifyRequest) => Promise<TokenCaller<P>> | null;
}

export interface TokenCaller<P extends EdgePrincipal> {
  readonly principal: P;
  /** As the key behind the token is now; rejects once it is invalid. */
  readonly authenticate: () => MaybePromise<P>;
}

/** The caller of an endpoint with `auth: "key"`, which the frame has authenticated before the handler runs. */
export function principalOf<P extends EdgePrincipal>(context: HandlerContext<P>): P {
  if (context.principal === null) throw new Error("a handler without a key asked for its principal");
  return context.principal;
}

/** Of a routed endpoint, whose record the frame has opened. */
export function recorderOf(context: Pick<HandlerContext, "recorder">): Recorder {
  if (context.recorder === null) throw new Error("a handler that leaves no record asked for its recorder");
  return context.recorder;
}
