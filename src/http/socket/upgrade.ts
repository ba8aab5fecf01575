// Turns a request for a WebSocket into an ordinary exchange and then into the socket: key, limits and refusals are those of any request,
// and only a request that passes them is answered 101 [api.upgrade].
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { EdgeLimits } from "../server/limits.ts";
import { linger } from "../server/linger.ts";
import { chooseSubprotocol } from "./subprotocol.ts";

/** Guards the memory; the session has its own, smaller limit, and words its refusal. */
const MAX_MESSAGE_BYTES = 1_048_576;
const SUBPROTOCOL_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;

/** What the library closes with when a frame breaks the protocol (RFC 6455 section 7.4.1), before it tells anybody. */
const BROKEN_FRAME_CODES: ReadonlySet<number> = new Set([1002, 1007, 1009]);

/** Such a frame ends a session as every fault does, with its last word: the library's `error` event follows this call. */
class SessionSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    // The other side's own goodbye comes here with its reason, be it empty.
    if (reason === undefined && code !== undefined && BROKEN_FRAME_CODES.has(code)) return;
    super.close(code, reason);
  }
}

/** Runs until the conversation is over; an `error` of an open socket is its to end. `stopping` aborts when the process shuts down. */
export type RunSession = (client: WebSocket, stopping: AbortSignal) => Promise<void>;

export interface Upgrades {
  /** Answers 101 and runs the session; to be called once the request was judged. */
  accept(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    run: RunSession,
  ): Promise<void>;
  /** Ends what runs, each with its own last word. */
  endAll(): Promise<void>;
}

/** What the HTTP server has to treat as an upgrade; on any other path the header means nothing. */
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
  const running = new Set<Promise<void>>();
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
    // An answer other than 101 is the last on its connection, which Node itself has let go of: nothing else would ever close it.
    response.once("finish", () => linger(socket as Socket, limits.lingerBytes, limits.lingerMs));
    response.assignSocket(socket as Socket);
    server.emit("request", request, response);
  });
  // Of an upgrade that came behind another request Node's parser drops what was sent with it: nothing that follows is waited for.
  server.prependListener("request", (request, response) => {
    if (request.headers.upgrade !== undefined && paths.has(pathOf(request))) response.shouldKeepAlive = false;
  });
  return {
    accept: async (request, response, headers, run) => {
      const taken = heads.get(request);
      if (taken === undefined || !isHandshake(request)) throw notAnUpgrade();
      const { socket, head } = taken;
      ownHeaders.set(request, headers);
      response.detachSocket(socket as Socket);
      let hasBegun = false;
      const session = new Promise<void>((resolve, reject) => {
        // Whoever reset the connection while the request was judged closes it no second time.
        if (socket.destroyed) return resolve();
        // Of one that has begun the session learns itself, and has more to do then: what was sent is charged, and told to the record.
        socket.once("close", () => {
          if (!hasBegun) resolve();
        });
        sockets.handleUpgrade(request, socket, head, (client) => {
          hasBegun = true;
          client.on("error", () => undefined);
          run(client, stopping.signal).then(resolve, reject);
        });
      }).finally(() => {
        socket.destroy();
        // The exchange is told of its end as it would be by a response that was sent, or by one that nobody was left to read.
        if (hasBegun) {
          response.statusCode = 101;
          response.emit("finish");
        }
        response.emit("close");
      });
      const settled = session.catch(() => undefined).finally(() => running.delete(settled));
      running.add(settled);
      await session;
    },
    endAll: async () => {
      stopping.abort();
      await Promise.all(running);
      sockets.close();
    },
  };
}

/** What the library would refuse is refused here, in our words. */
function isHandshake({ headers }: IncomingMessage): boolean {
  const offered = headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim()) ?? [];
  return (
    headers["sec-websocket-version"] === "13" &&
    /^[A-Za-z0-9+/]{22}==$/u.test(headers["sec-websocket-key"] ?? "") &&
    offered.every((name) => SUBPROTOCOL_NAME.test(name)) &&
    new Set(offered).size === offered.length
  );
}

function notAnUpgrade(): GatewayError {
  return invalidRequest("upgrade", "This endpoint is a WebSocket: open it with an upgrade of version 13.");
}
