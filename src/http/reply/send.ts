// Sends replies and errors, and decides whether the connection stays open. The only place that does, so that each response has its request id.
import { GatewayError } from "../../contract/errors.ts";
import { freeBuffer } from "../../lib/free-buffer.ts";
import type { Edge } from "../server/edge.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply, ReplyBody } from "../server/endpoint.ts";
import { errorReply } from "./error-reply.ts";
import { hasAmbiguousFraming } from "../server/head.ts";
import { hasUnreadBody, lingerAfterReply } from "../server/linger.ts";
import { waitingBytes } from "./unread-budget.ts";
import { sendEvents } from "./sse.ts";

/** Transcripts are private: proxies must not cache them, and browsers must not interpret them as pages. */
const PLAIN = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
const NO_FIELDS: Readonly<Record<string, string>> = {};
const CLOSE = { connection: "close" };
const JSON_TYPE = "application/json; charset=utf-8";

/** Resolves when the whole response was handed to Node, or the stream or session has ended. */
export async function sendReply(edge: Edge, exchange: Exchange, answer: Reply): Promise<void> {
  const { body } = answer;
  if ("events" in body) return sendStream(edge, exchange, answer.headers ?? {}, body);
  if ("session" in body) return sendSession(edge, exchange, body);
  // Serialised before the head is sent, so that a value that is not JSON results in a complete 500 response.
  const payload = payloadOf(body);
  const bytes = Array.isArray(payload) ? byteLength(payload) : Buffer.byteLength(payload);
  const { response } = exchange;
  response.writeHead(answer.status, {
    ...PLAIN,
    ...exchange.fields.read(),
    ...answer.headers,
    "content-type": "json" in body ? JSON_TYPE : body.contentType,
    "x-request-id": exchange.id,
    ...connectionFields(edge, exchange),
    "content-length": bytes,
  });
  // Node leaves out the body of a response to HEAD.
  if (Array.isArray(payload)) {
    for (const piece of payload) response.write(piece);
    response.end();
    // By then the socket no longer uses the buffers, or is closed.
    response.once("close", () => payload.forEach(freeBuffer));
  } else response.end(payload);
  exchange.releaseReservation();
  // Most responses are in the kernel's buffer by now.
  if (waitingBytes(exchange.socket) > 0) {
    const unread = Buffer.isBuffer(payload) ? { bytes, shared: payload } : { bytes };
    response.once("close", edge.unread.add(exchange.socket, unread));
  }
}

/** A longer text is sent as bytes. As text, Node would keep a copy in addition to it until it is read. */
const LONG_TEXT_CHARACTERS = 64 * 1024;

type Payload = string | Buffer | Buffer[];

function byteLength(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

function payloadOf(body: Exclude<ReplyBody, { events: unknown } | { session: unknown }>): Payload {
  if ("bytes" in body) return body.bytes;
  if ("pieces" in body) return [...body.pieces];
  const text = "json" in body ? JSON.stringify(body.json) : body.text;
  return text.length > LONG_TEXT_CHARACTERS ? Buffer.from(text) : text;
}

/** An error that `events` did not convert to an event destroys the connection. */
async function sendStream(
  edge: Edge,
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
  { events, held, startsWithPing = false }: Extract<ReplyBody, { events: unknown }>,
): Promise<void> {
  await using _ = held;
  await sendEvents(exchange.response, events, {
    headers: {
      ...exchange.fields.read(),
      ...headers,
      "x-request-id": exchange.id,
      ...(edge.draining() ? CLOSE : NO_FIELDS),
    },
    clientGone: exchange.signal,
    schedule: edge.schedule,
    unread: (bytes) => edge.unread.add(exchange.socket, { bytes }),
    startsWithPing,
  });
}

/** Takes over the socket after authentication. A failure before the 101 is an ordinary error response. */
async function sendSession(
  edge: Edge,
  exchange: Exchange,
  { session, release }: Extract<ReplyBody, { session: unknown }>,
): Promise<void> {
  let isOpen = false;
  try {
    const headers = { ...exchange.fields.read(), "x-request-id": exchange.id };
    await edge.upgrades().accept(exchange.raw, exchange.response, headers, (client, stopping) => {
      isOpen = true;
      return session(client, stopping);
    });
  } catch (error) {
    if (!isOpen) throw error;
    edge.logger.error({ request_id: exchange.id, route: exchange.route, err: error });
  } finally {
    await release();
  }
}

export function sendError(edge: Edge, exchange: Exchange, error: unknown): void {
  const { id, method, route } = exchange;
  const answer = errorReply(error, {
    requestId: id,
    publicUrl: edge.publicUrl(),
    accept: exchange.headers.accept,
  });
  exchange.code = answer.code;
  const isUnexpected = answer.code === "INTERNAL" || !(error instanceof GatewayError);
  if (isUnexpected && !exchange.isGone) {
    const err = error instanceof GatewayError ? (error.cause ?? error) : error;
    edge.logger.error({ request_id: id, method, route, code: answer.code, err });
  }
  exchange.response
    .writeHead(answer.status, {
      ...exchange.fields.read(),
      ...answer.headers,
      ...connectionFields(edge, exchange),
      "content-length": Buffer.byteLength(answer.body),
    })
    .end(answer.body);
}

/** The `Connection` header, and a lingering close if the request has an unread body. */
function connectionFields(edge: Edge, { raw, response, socket }: Exchange): Readonly<Record<string, string>> {
  if (hasUnreadBody(raw)) {
    lingerAfterReply(raw, response, socket, edge.limits);
    return CLOSE;
  }
  return edge.draining() || hasAmbiguousFraming(raw) ? CLOSE : NO_FIELDS;
}
