// Every connection of a server, for the watch over unread replies and for the shutdown [api.unread-reply] [api.drain-finish].
import { Server as NetServer, type Socket } from "node:net";
import type { Server } from "node:http";
import type { WaitGroup } from "../../lib/concurrency/wait-group.ts";

export type Connections = ReadonlySet<Socket>;

declare module "fastify" {
  interface FastifyInstance {
    /** Open ones. */
    readonly connections: Connections;
    /** What goes on behind them. */
    readonly underWay: Pick<WaitGroup, "done">;
  }
}

export function noteConnections(server: Server): Connections {
  const connections = new Set<Socket>();
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  return connections;
}

/** However it comes: `once` of `node:events` would reject where a caller resets its connection, and nobody may be waiting yet. */
export function hasClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("close", () => resolve());
  });
}

/** Connected, and not a byte of a request so far. */
export function isSilent(socket: Socket): boolean {
  return socket.bytesRead === 0;
}

/**
 * Node closes connections that wait for their next request, but one that never sent a byte counts as busy there, and
 * `close` stops the check that would time it out: a caller that only connected would hold up a shutdown for ever.
 */
export function endSilentConnections(server: Server, connections: Connections): void {
  for (const socket of connections) if (isSilent(socket)) socket.destroy();
  server.on("connection", (socket) => socket.destroy());
}

/** Takes no new connection and leaves the others alone; the HTTP server's own `close` would end the idle ones in the same breath. */
export function stopListening(server: Server): void {
  NetServer.prototype.close.call(server);
}

/**
 * Whether a connection was accepted in this turn of the event loop. Node accepts one in a turn: where a turn takes as long as all requests
 * under way, many who knock at once would wait for seconds.
 */
export function trackAccepts(server: Server): () => boolean {
  /** Whoever asks at the end of the turn in which it came may do so before or behind `pass`; at the end of the next one it is over. */
  let ends = 0;
  const pass = (): void => {
    ends -= 1;
    if (ends > 0) setImmediate(pass);
  };
  server.on("connection", () => {
    if (ends === 0) setImmediate(pass);
    ends = 2;
  });
  return () => ends > 0;
}
