// Handles a WebSocket upgrade as an ordinary exchange first: key, limits and errors are those of any request, and only a request that passes them is
// answered 101 [api.upgrade].
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { EdgeLimits } from "../server/limits.ts";
import { linger } from "../server/linger.ts";
import { chooseSubprotocol } from "./subprotocol.ts";

/** Limits memory. A session has its own smaller limit and sends its own error. */
const MAX_MESSAGE_BYTES = 1_048_576;
const SUBPROTOCOL_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;

/** Codes with which the library closes when a frame violates the protocol (RFC 6455 section 7.4.1), before it reports an error. */
const BROKEN_FRAME_CODES: ReadonlySet<number> = new Set([1002, 1007, 1009]);

/** Suppresses the library's close, so that such a frame ends a session with an error event like any failure. The library's `error` event follows this call. */
class SessionSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    // When the client closes, this is called with its reason, which may be empty.
    if (reason === undefined && code !== undefined && BROKEN_FRAME_CODES.has(code)) return;
    super.close(code, reason);
  }
}

/** Runs until the session is over, and must end it after an `error` of an open socket. `stopping` aborts when the process shuts down. */
export type RunSession = (client: WebSocket, stopping: AbortSignal) => Promise<void>;

export interface Upgrades {
  /** Responds 101 and runs the session. Call after the request was validated. */
  accept(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    run: RunSession,
  ): Promise<void>;
  /** Ends all running sessions, each with its own last event. */
  endAll(): Promise<void>;
}

/** Whether the HTTP server has to treat the request as an upgrade. On any other path the header is ignored. */
export function isSocketRequest(request: IncomingMessage, paths: ReadonlySet<string>): boolean {
  return (
    request.method === "GET" && request.headers.upgrade?.toLowerCase() === "websocket" && paths.has(pathOf(request))
  );
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?")[0] ?? "";
}

export function createUpgrades(
  server: Server,
  paths: ReadonlySet<string>,
  limits: Pick<EdgeLimits, "lingerBytes" | "lingerMs">,
): Upgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    WebSocket: SessionSocket,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: chooseSubprotocol,
  });
  const heads = new WeakMap<IncomingMessage, { readonly socket: Duplex; readonly head: Buffer }>();
  const activeSessions = new Set<Promise<void>>();
  const stopping = new AbortController();
  const ownHeaders = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>();
  sockets.on("headers", (lines, request) => {
    lines.push(...Object.entries(ownHeaders.get(request) ?? {}).map(([name, value]) => `${name}: ${value}`));
  });
  server.on("upgrade", (request, socket, head) => {
    heads.set(request, { socket, head });
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    socket.on("error", () => socket.destroy());
    // A response other than 101 is the last on its connection. Node no longer manages the socket, so it must be closed here.
    response.once("finish", () => linger(socket as Socket, limits.lingerBytes, limits.lingerMs));
    response.assignSocket(socket as Socket);
    server.emit("request", request, response);
  });
  // For an upgrade that was pipelined behind another request, Node's parser drops what was sent after it, so the connection must close.
  server.prependListener("request", (request, response) => {
    if (request.headers.upgrade !== undefined && paths.has(pathOf(request))) response.shouldKeepAlive = false;
  });
  return {
    accept: async (request, response, headers, run) => {
      const upgrade = heads.get(request);
      if (upgrade === undefined || !isHandshake(request)) throw notAnUpgrade();
      const { socket, head } = upgrade;
      ownHeaders.set(request, headers);
      response.detachSocket(socket as Socket);
      let hasStarted = false;
      const session = new Promise<void>((resolve, reject) => {
        // If the client reset the connection during validation, there is no further "close" event.
        if (socket.destroyed) return resolve();
        // A running session handles the close itself, because it still has to charge and record what was sent.
        socket.once("close", () => {
          if (!hasStarted) resolve();
        });
        sockets.handleUpgrade(request, socket, head, (client) => {
          hasStarted = true;
          client.on("error", () => undefined);
          run(client, stopping.signal).then(resolve, reject);
        });
      }).finally(() => {
        socket.destroy();
        // Ends the exchange as a sent response would, or as a disconnected client would.
        if (hasStarted) {
          response.statusCode = 101;
          response.emit("finish");
        }
        response.emit("close");
      });
      const completion = session.catch(() => undefined).finally(() => activeSessions.delete(completion));
      activeSessions.add(completion);
      await session;
    },
    endAll: async () => {
      stopping.abort();
      await Promise.all(activeSessions);
      sockets.close();
    },
  };
}

/** Requests that the library would refuse are refused here with the usual error body. */
function isHandshake({ headers }: IncomingMessage): boolean {
  const subprotocols = headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim()) ?? [];
  return (
    headers["sec-websocket-version"] === "13" &&
    /^[A-Za-z0-9+/]{22}==$/u.test(headers["sec-websocket-key"] ?? "") &&
    subprotocols.every((name) => SUBPROTOCOL_NAME.test(name)) &&
    new Set(subprotocols).size === subprotocols.length
  );
}

function notAnUpgrade(): GatewayError {
  return invalidRequest("upgrade", "This endpoint is a WebSocket: open it with an upgrade of version 13.");
}
