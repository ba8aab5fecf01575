// One request and its answer as the edge sees them: who is still there, and what must end it from outside (a slow or
// broken body). The handler only ever sees the abort signal.
import { IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ErrorCode, GatewayError } from "../../contract/errors.ts";
import { createSymbolSlot } from "../../lib/symbol-slot.ts";
import type { Reservation } from "../reply/unread-budget.ts";

const NO_FIELDS: Readonly<Record<string, string>> = {};
const noFields = (): Readonly<Record<string, string>> => NO_FIELDS;

export class Exchange {
  /** Kept here because Node sets `raw.socket` to null when a pipeline or loop ends the request stream. */
  readonly socket: Socket;
  readonly receivedAtMs: number;
  /** The code of the refusal, for the log. */
  code: ErrorCode | null = null;
  /** Of memory for its answer, until the answer is with its socket. */
  reservation: Reservation | null = null;
  /** Fields of any answer, refusals included, as they stand when it is sent. */
  fields: () => Readonly<Record<string, string>> = noFields;
  readonly #controller = new AbortController();
  /** Null: it is closed. */
  #closing: (() => void)[] | null = [];
  #cutBy: GatewayError | null = null;
  #onCut: ((error: GatewayError) => void) | null = null;
  #isFinished = false;
  #isGone = false;

  constructor(raw: IncomingMessage, response: ServerResponse, receivedAtMs: number) {
    this.socket = raw.socket;
    this.receivedAtMs = receivedAtMs;
    response.on("finish", () => {
      this.#isFinished = true;
    });
    response.on("close", () => this.#close());
    replies.set(raw, response);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True when the caller hung up before the reply was finished. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** What the handler comes to, or the error that cuts the exchange before. To be called once. */
  unlessCut<T>(handled: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      handled.then(resolve, reject);
      this.#onCut = reject;
      if (this.#cutBy !== null) reject(this.#cutBy);
    });
  }

  /** Answers with this error instead of waiting for the handler. */
  cut(error: GatewayError): void {
    this.#cutBy ??= error;
    this.#onCut?.(error);
    this.#controller.abort(error);
  }

  releaseReservation(): void {
    this.reservation?.release();
    this.reservation = null;
  }

  /** When the reply was finished, or nobody is left to read it; at once where it is so. */
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

const replies = createSymbolSlot<IncomingMessage, ServerResponse>("its reply");

/**
 * Node destroys the socket with the request stream, so a handler that gives up on the body by `destroy` would take away
 * the very connection its refusal must go out on. Until the reply is finished, only the stream ends.
 */
export class KeepSocketIncomingMessage extends IncomingMessage {
  // The hook that streams document for this purpose is spelt so.
  // oxlint-disable-next-line no-underscore-dangle
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const socket: Socket | null = this.socket;
    const reply = replies.get(this);
    if (reply === undefined || reply.writableFinished || socket === null || socket.destroyed) {
      // oxlint-disable-next-line no-underscore-dangle
      super._destroy(error, callback);
      return;
    }
    callback(this.listenerCount("error") === 0 ? null : error);
  }
}
