// One request and its answer as the edge sees them: who is still there, and what must end it from outside (a slow or
// broken body). The handler only ever sees the abort signal.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ErrorCode, GatewayError } from "../contract/errors.ts";

export interface Exchange {
  /** Kept here because Node sets `raw.socket` to null when a pipeline or loop ends the request stream. */
  readonly socket: Socket;
  readonly signal: AbortSignal;
  /** What the handler comes to, or the error that cuts the exchange before. To be called once. */
  readonly unlessCut: <T>(handled: Promise<T>) => Promise<T>;
  /** Answers with this error instead of waiting for the handler. */
  readonly cut: (error: GatewayError) => void;
  /** True when the caller hung up before the reply was finished. */
  readonly isGone: () => boolean;
  readonly receivedAtMs: number;
  /** Resolves when the reply was finished, or nobody is left to read it. */
  readonly closed: Promise<void>;
  /** The code of the refusal, for the log. */
  code: ErrorCode | null;
  /** Fields of any answer, refusals included, as they stand when it is sent. */
  fields: () => Readonly<Record<string, string>>;
}

const NO_FIELDS: Readonly<Record<string, string>> = {};

export function openExchange(raw: IncomingMessage, response: ServerResponse, receivedAtMs: number): Exchange {
  const controller = new AbortController();
  let cutBy: GatewayError | null = null;
  let onCut: (error: GatewayError) => void = () => undefined;
  let finished = false;
  let gone = false;
  response.on("finish", () => {
    finished = true;
  });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  response.on("close", () => {
    close();
    if (finished) return;
    gone = true;
    controller.abort(new Error("the caller hung up"));
  });
  keepSocketOnDestroy(raw, response);
  return {
    socket: raw.socket,
    signal: controller.signal,
    unlessCut: (handled) =>
      new Promise((resolve, reject) => {
        handled.then(resolve, reject);
        onCut = reject;
        if (cutBy !== null) reject(cutBy);
      }),
    cut: (error) => {
      cutBy ??= error;
      onCut(error);
      controller.abort(error);
    },
    isGone: () => gone,
    receivedAtMs,
    closed,
    code: null,
    fields: () => NO_FIELDS,
  };
}

/**
 * Node destroys the socket with the request stream, so a handler that gives up on the body by `destroy` would take away
 * the very connection its refusal must go out on. Until the reply is finished, only the stream ends.
 */
function keepSocketOnDestroy(raw: IncomingMessage, response: ServerResponse): void {
  // The hook that streams document for this purpose is spelt so.
  // oxlint-disable-next-line no-underscore-dangle
  const destroy = raw._destroy.bind(raw);
  // oxlint-disable-next-line no-underscore-dangle
  raw._destroy = (error, callback) => {
    const socket: Socket | null = raw.socket;
    if (response.writableFinished || socket === null || socket.destroyed) {
      destroy(error, callback);
      return;
    }
    callback(raw.listenerCount("error") === 0 ? null : error);
  };
}
