// A request of the gateway to itself, by a connection that never leaves the process: a request made for a caller passes the same parser,
// limits, key, quotas, record and log as the caller's own [mcp.record].
import { type IncomingMessage, type OutgoingHttpHeaders, request, type Server } from "node:http";
import { duplexPair } from "node:stream";
import { text } from "node:stream/consumers";

export interface OwnRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | null;
  /** Aborted, the connection closes, as that of a caller who leaves. */
  readonly signal: AbortSignal;
}

export interface OwnAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** Rejects where the connection is closed without an answer: the server takes none any more. */
export async function askOwnServer(server: Server, asked: OwnRequest): Promise<OwnAnswer> {
  const { method, path, headers, body, signal } = asked;
  const [near, far] = duplexPair();
  // As Node documents it: any duplex stream can be a connection.
  server.emit("connection", far);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const length = body === null ? {} : { "content-length": Buffer.byteLength(body) };
  // With an `agent`, even `false`, Node would dial instead.
  const sent = request({ createConnection: () => near, method, path, headers: { ...headers, ...length }, signal });
  sent.once("response", resolve).once("error", reject).end(body);
  const answer = await promise;
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
}
