// Tracks every open connection of a server, for disconnecting slow readers and for the shutdown [api.unread-reply] [api.drain-finish].
import { Server as NetServer, type Socket } from "node:net";
import type { Server } from "node:http";

export type Connections = ReadonlySet<Socket>;

export function noteConnections(server: Server): Connections {
  const connections = new Set<Socket>();
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  return connections;
}

/** Never rejects. `once` of `node:events` would when the client resets its connection, possibly before the promise is awaited. */
export function hasClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("close", () => resolve());
  });
}

/** Connected, without having sent a byte of a request. */
export function isSilent(socket: Socket): boolean {
  return socket.bytesRead === 0;
}

/**
 * Node closes idle keep-alive connections, but counts a connection that never sent a byte as busy, and `close` stops the check that would time
 * it out. A client that only connected would block the shutdown for ever.
 */
export function endSilentConnections(server: Server, connections: Connections): void {
  for (const socket of connections) if (isSilent(socket)) socket.destroy();
  server.on("connection", (socket) => socket.destroy());
}

/** Stops accepting connections and leaves the open ones alone. The HTTP server's own `close` would also close the idle ones. */
export function stopListening(server: Server): void {
  NetServer.prototype.close.call(server);
}

/**
 * Whether a connection was accepted in this tick of the event loop. Node accepts one connection a tick: if a tick took as long as all running
 * requests, clients that connect at the same moment would wait for seconds.
 */
export function trackAccepts(server: Server): () => boolean {
  /** Lasts two runs of `countDown`, because a caller at the end of the accepting tick may run before or after the first one. */
  let remainingTicks = 0;
  const countDown = (): void => {
    remainingTicks -= 1;
    if (remainingTicks > 0) setImmediate(countDown);
  };
  server.on("connection", () => {
    if (remainingTicks === 0) setImmediate(countDown);
    remainingTicks = 2;
  });
  return () => remainingTicks > 0;
}
