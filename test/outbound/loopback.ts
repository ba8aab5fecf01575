// Servers on loopback for tests of the way out: HTTP ones, and raw sockets for what no proper server does.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

const pem = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), "utf8");

/** Of the server with TLS: the names and the issuer of its certificate. */
export const TLS = {
  host: "media.allowed.example",
  ca: pem("ca.pem"),
  cert: pem("server.pem"),
  key: pem("server.key"),
};

export async function httpServer(t: TestContext, handle: Answer): Promise<URL> {
  return served(
    t,
    createServer((request, response) => void handle(request, response)),
    "http",
  );
}

export async function httpsServer(t: TestContext, handle: Answer): Promise<URL> {
  const { cert, key } = TLS;
  return served(
    t,
    createTlsServer({ cert, key }, (request, response) => void handle(request, response)),
    "https",
  );
}

async function served(t: TestContext, server: HttpServer, scheme: "http" | "https"): Promise<URL> {
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return listening(server, scheme);
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

async function listening(server: Server, scheme: "http" | "https" = "http"): Promise<URL> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`);
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
