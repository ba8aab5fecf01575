// One request and its response: whether the client is still connected, and how the exchange is cut from outside (slow or broken body). Handlers only
// see the abort signal.
import { IncomingMessage, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ErrorCode, GatewayError } from "../../contract/errors.ts";
import { newId, type RequestId } from "../../contract/ids.ts";
import type { Reservation } from "../reply/unread-budget.ts";
import { NO_REPLY_FIELDS, type ReplyFields } from "../reply/reply-fields.ts";

/** As proxies log it. Never sent, because the client has disconnected. */
const CLIENT_GONE = 499;

export class Exchange {
  readonly id: RequestId = newId("request");
  readonly raw: ServedRequest;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The endpoint's path as in its contract. Null: no endpoint has this method and path. */
  readonly route: string | null;
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** A list where a name is repeated. A text whose escapes are invalid is as it was sent. */
  readonly query: Readonly<Record<string, unknown>>;
  /** Stored because Node sets `raw.socket` to null when a pipeline or loop ends the request stream. */
  readonly socket: Socket;
  readonly response: ServerResponse;
  readonly receivedAtMs: number;
  /** The error code of the refusal, for the log. */
  code: ErrorCode | null = null;
  /** Memory reserved for the response, until the response is handed to its socket. */
  reservation: Reservation | null = null;
  /** Header fields of any response, including refusals, evaluated when it is sent. */
  fields: ReplyFields = NO_REPLY_FIELDS;
  readonly #controller = new AbortController();
  /** Null: the exchange is closed. */
  #closing: (() => void)[] | null = [];
  #cutBy: GatewayError | null = null;
  #onCut: ((error: GatewayError) => void) | null = null;
  #isFinished = false;
  #isGone = false;

  /** `match`: what the router found. */
  constructor(
    raw: IncomingMessage,
    response: ServerResponse,
    receivedAtMs: number,
    match: Pick<Exchange, "route" | "params" | "query">,
  ) {
    this.raw = servedRequest(raw);
    this.raw.exchange = this;
    this.method = raw.method ?? "";
    this.headers = raw.headers;
    this.route = match.route;
    this.params = match.params;
    this.query = match.query;
    this.socket = raw.socket;
    this.response = response;
    this.receivedAtMs = receivedAtMs;
    response.on("finish", () => {
      this.#isFinished = true;
    });
    response.on("close", () => this.#close());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the client disconnected before the reply was finished. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** As it is logged and recorded when the exchange is closed. */
  get status(): number {
    return this.#isGone ? CLIENT_GONE : this.response.statusCode;
  }

  /** The handler's result, or the error that cuts the exchange first. Call once. */
  unlessCut<T>(result: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      result.then(resolve, reject);
      this.#onCut = reject;
      if (this.#cutBy !== null) reject(this.#cutBy);
    });
  }

  /** Responds with this error instead of waiting for the handler. */
  cut(error: GatewayError): void {
    this.#cutBy ??= error;
    this.#onCut?.(error);
    this.#controller.abort(error);
  }

  releaseReservation(): void {
    this.reservation?.release();
    this.reservation = null;
  }

  /** Runs when the reply was finished or the client disconnected; at once if that has already happened. */
  onClose(run: () => void): void {
    if (this.#closing === null) run();
    else this.#closing.push(run);
  }

  #close(): void {
    if (!this.#isFinished) {
      this.#isGone = true;
      this.#controller.abort(new Error("the caller hung up"));
    }
    const closing = this.#closing ?? [];
    this.#closing = null;
    for (const run of closing) run();
  }
}

/** A request of our servers, with what belongs to it. Not in a WeakMap, because its entries make the collector promote them (docs/decisions/0045). */
export class ServedRequest extends IncomingMessage {
  /** Null: the request was refused before its exchange was opened, or waits for its turn. */
  exchange: Exchange | null = null;
  /** Whether it was queued behind an earlier response of its connection. */
  wasQueued = false;

  /**
   * Node destroys the socket together with the request stream, so a handler that stops reading the body by `destroy` would close the connection
   * that its refusal must be sent on. Until the reply is finished, only the stream is destroyed.
   */
  // The documented hook of streams for this purpose has this spelling.
  // oxlint-disable-next-line no-underscore-dangle
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const socket: Socket | null = this.socket;
    const response = this.exchange?.response;
    if (response === undefined || response.writableFinished || socket === null || socket.destroyed) {
      // oxlint-disable-next-line no-underscore-dangle
      super._destroy(error, callback);
      return;
    }
    callback(this.listenerCount("error") === 0 ? null : error);
  }
}

/** Every server of this folder creates its requests by this class. */
export function servedRequest(raw: IncomingMessage): ServedRequest {
  if (!(raw instanceof ServedRequest)) throw new Error("the request is not one of our servers");
  return raw;
}
