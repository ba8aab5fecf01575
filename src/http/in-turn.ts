// One connection's requests one after the other (RFC 9112, 9.3.2: those sent ahead of an answer may run at once only if all are safe).
// A caller that sends many at once waits for itself, and whoever never reads an answer has one prepared, not all of them.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type Handler = (raw: IncomingMessage, response: ServerResponse) => void;

/** The latest request of a connection. */
export interface Turn {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** What happens when its turn comes; null: it has come. */
  begin: (() => void) | null;
}

export interface Turns {
  latest(socket: Socket): Turn | undefined;
}

/** Call `serve` once: its handler gets a request when the connection's answers before it are finished. */
export function createTurns(): Turns & { serve(server: Server, handler: Handler): void } {
  const latest = new WeakMap<Socket, Turn>();
  return {
    latest: (socket) => latest.get(socket),
    serve: (server, handler) => {
      server.on("request", (raw, response) => {
        const { socket } = raw;
        const before = latest.get(socket);
        const turn: Turn = { raw, response, begin: null };
        latest.set(socket, turn);
        if (before === undefined || before.response.closed) return handler(raw, response);
        turn.begin = () => handler(raw, response);
        before.response.once("close", () => {
          const { begin } = turn;
          turn.begin = null;
          // An answer that closed its connection has left this one without any.
          if (socket.writable) begin?.();
        });
      });
    },
  };
}
