// Runs the requests of one connection one after the other (RFC 9112, 9.3.2: pipelined requests may run concurrently only if all are safe). A client
// that never reads has only one response prepared, not all of them.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { servedRequest } from "./exchange.ts";
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
  latest(socket: Socket): Turn | null;
  /** Whether every response due on this connection is finished. */
  isIdle(socket: Socket): boolean;
}

/**
 * Maximum number of queued requests per connection. Node's own back-pressure counts unread responses, but queued requests have none yet: without
 * a limit, a client that reads nothing, or waits behind a stream, would fill the memory with requests of sixty bytes.
 */
const MOST_WAITING = 32;

interface Connection {
  latest: Turn | null;
  /** Number of queued requests. */
  waiting: number;
}

/** Call `serve` once. Its handler gets a request when all earlier responses of the connection are finished. */
export function createPipelineQueue(): Turns & { serve(server: Server, handler: Handler): void } {
  // One entry per connection, not per request.
  const connections = new WeakMap<Socket, Connection>();
  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection = { latest: null, waiting: 0 };
    connections.set(socket, connection);
    return connection;
  };

  function queue(previous: Turn, turn: Turn, handler: Handler): void {
    const { socket } = turn.raw;
    const connection = connectionOf(socket);
    connection.waiting += 1;
    servedRequest(turn.raw).wasQueued = true;
    turn.begin = () => handler(turn.raw, turn.response);
    previous.response.once("close", () => {
      connection.waiting -= 1;
      const { begin } = turn;
      turn.begin = null;
      // The earlier response may have closed the connection.
      if (socket.writable) begin?.();
    });
  }

  return {
    latest: (socket) => connectionOf(socket).latest,
    isIdle: (socket) => connectionOf(socket).latest?.response.closed ?? true,
    serve: (server, handler) => {
      server.on("request", (raw, response) => {
        const connection = connectionOf(raw.socket);
        const previous = connection.latest;
        const turn: Turn = { raw, response, begin: null };
        if (previous === null || previous.response.closed) {
          connection.latest = turn;
          return handler(raw, response);
        }
        if (connection.waiting === MOST_WAITING) return endAfter(previous);
        connection.latest = turn;
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
