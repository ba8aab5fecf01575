// Servers on loopback for tests of the way out: HTTP ones, and raw sockets for what no proper server does.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

export async function httpServer(
  t: TestContext,
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<URL> {
  const server = createServer((request, response) => void handle(request, response));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return listening(server);
}

export async function socketServer(t: TestContext, handle: (socket: Socket) => void): Promise<URL> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    handle(socket);
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listening(server);
}

async function listening(server: Server): Promise<URL> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

/** An address where nothing listens: it was free a moment ago. */
export async function refusingUrl(): Promise<URL> {
  const server = createSocketServer();
  const url = await listening(server);
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  await closed.promise;
  return url;
}

export async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
