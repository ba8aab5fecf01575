// Runs the requests of one connection one after the other (RFC 9112, 9.3.2: pipelined requests may run concurrently only if all are safe). A client
// that never reads has only one response prepared, not all of them.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createSymbolSlot } from "../../lib/symbol-slot.ts";
import { throwAwayInput } from "./linger.ts";

export type Handler = (raw: IncomingMessage, response: ServerResponse) => void;

/** The latest request of a connection. */
export interface Turn {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** Starts the request when the one before it is finished. Null: it has started. */
  begin: (() => void) | null;
}

export interface Turns {
  latest(socket: Socket): Turn | undefined;
  /** Whether every response due on this connection is finished. */
  isIdle(socket: Socket): boolean;
  /** Whether the request was queued behind an earlier response. */
  hasWaited(raw: IncomingMessage): boolean;
}

/**
 * Maximum number of queued requests per connection. Node's own back-pressure counts unread responses, but queued requests have none yet: without
 * a limit, a client that reads nothing, or waits behind a stream, would fill the memory with requests of sixty bytes.
 */
const MOST_WAITING = 32;

/** Call `serve` once. Its handler gets a request when all earlier responses of the connection are finished. */
export function createPipelineQueue(): Turns & { serve(server: Server, handler: Handler): void } {
  const latest = createSymbolSlot<Socket, Turn>("latest request");
  const queueLengths = createSymbolSlot<Socket, number>("requests that wait for their turn");
  const queuedRequests = createSymbolSlot<IncomingMessage, true>("waited for its turn");

  function queue(previous: Turn, turn: Turn, handler: Handler): void {
    const { socket } = turn.raw;
    queueLengths.set(socket, (queueLengths.get(socket) ?? 0) + 1);
    queuedRequests.set(turn.raw, true);
    turn.begin = () => handler(turn.raw, turn.response);
    previous.response.once("close", () => {
      queueLengths.set(socket, (queueLengths.get(socket) ?? 1) - 1);
      const { begin } = turn;
      turn.begin = null;
      // The earlier response may have closed the connection.
      if (socket.writable) begin?.();
    });
  }

  return {
    latest: (socket) => latest.get(socket),
    isIdle: (socket) => latest.get(socket)?.response.closed ?? true,
    hasWaited: (raw) => queuedRequests.get(raw) === true,
    serve: (server, handler) => {
      server.on("request", (raw, response) => {
        const { socket } = raw;
        const previous = latest.get(socket);
        const turn: Turn = { raw, response, begin: null };
        if (previous === undefined || previous.response.closed) {
          latest.set(socket, turn);
          return handler(raw, response);
        }
        if ((queueLengths.get(socket) ?? 0) === MOST_WAITING) return endAfter(previous);
        latest.set(socket, turn);
        queue(previous, turn, handler);
      });
    },
  };
}

/** What was sent after this request is discarded (RFC 9112, 9.3.2: the client sends it again), and the response has `Connection: close`. */
function endAfter({ raw, response }: Turn): void {
  response.shouldKeepAlive = false;
  throwAwayInput(raw.socket);
}
