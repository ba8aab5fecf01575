// Sends a request of the gateway to itself over an in-memory connection, so that it passes the same parser, limits, key check, quotas, record and log
// as a client's own request [mcp.record].
import { type IncomingMessage, type OutgoingHttpHeaders, request, type Server } from "node:http";
import { duplexPair } from "node:stream";
import { text } from "node:stream/consumers";

export interface OwnRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | null;
  /** Closes the connection when aborted, like a client that disconnects. */
  readonly signal: AbortSignal;
}

export interface OwnAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** Rejects if the connection is closed without a response, because the server no longer accepts requests. */
export async function askOwnServer(server: Server, ownRequest: OwnRequest): Promise<OwnAnswer> {
  const { method, path, headers, body, signal } = ownRequest;
  const [clientEnd, serverEnd] = duplexPair();
  // Documented by Node: any duplex stream can be a connection.
  server.emit("connection", serverEnd);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const length = body === null ? {} : { "content-length": Buffer.byteLength(body) };
  // With an `agent`, even `false`, Node would open a network connection instead.
  const outgoing = request({
    createConnection: () => clientEnd,
    method,
    path,
    headers: { ...headers, ...length },
    signal,
  });
  outgoing.once("response", resolve).once("error", reject).end(body);
  const answer = await promise;
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
}
