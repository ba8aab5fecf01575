// Responds to connections that never sent a valid request: bad request lines, oversized or slow heads, broken framing, CONNECT. Node's own responses
// are plain text; these have the usual error body and follow any earlier pipelined response [errors.one-body].
import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../../contract/errors.ts";
import { newId } from "../../contract/ids.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import { type AllowedMethods, noSuchEndpoint } from "./allowed-methods.ts";
import type { Edge } from "./edge.ts";
import { servedRequest } from "./exchange.ts";
import { errorReply } from "../reply/error-reply.ts";
import { headersTooLarge } from "./head.ts";
import type { Turns } from "./pipelining.ts";
import { createTickThrottle } from "../../lib/concurrency/tick-throttle.ts";
import { linger } from "./linger.ts";

interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
  /** Number of bytes of the packet that the parser accepted. */
  readonly bytesParsed?: number;
}

const REQUEST_LINE = /^([A-Z][A-Z-]{0,31}) (\/[^\s]{0,8191}) HTTP\/1\.[01]\r?\n/;
const HEAD_TOO_SLOW = "ERR_HTTP_REQUEST_TIMEOUT";
/** A refusal takes about 0.1 ms, and the slow heads of a flood time out together. */
const REFUSED_IN_A_TURN = 50;
const EVERY_METHOD = ["GET", "HEAD", "POST", "PUT", "DELETE"];

export interface ClientErrorParts {
  readonly allowed: AllowedMethods;
  readonly turns: Turns;
}

export function answerClientErrors(server: Server, edge: Edge, { allowed, turns }: ClientErrorParts): void {
  const failed = new WeakSet<Socket>();
  const throttle = createTickThrottle(() => REFUSED_IN_A_TURN);
  server.on("clientError", (error: ParserError, stream) => {
    const socket = stream as Socket;
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    // Every further packet would raise the same error again.
    if (failed.has(socket)) return;
    failed.add(socket);
    // Node detects all slow heads in one pass, and there may be thousands.
    if (error.code !== HEAD_TOO_SLOW) return answer(socket, error);
    const latestTurn = turns.latest(socket);
    throttle(() => {
      if (turns.latest(socket) === latestTurn) answer(socket, error);
      // The head was completed in the meantime.
      else failed.delete(socket);
    });
  });
  const answer = (socket: Socket, error: ParserError): void => {
    const refusal = refusalOf(error, edge, allowed);
    const latestTurn = turns.latest(socket);
    if (latestTurn === null || latestTurn.response.writableFinished) return refuse(socket, refusal, edge);
    const { exchange } = servedRequest(latestTurn.raw);
    if (!latestTurn.raw.complete && exchange !== null) return exchange.cut(refusal);
    // A request that broke while it was queued has no other response.
    if (!latestTurn.raw.complete && latestTurn.begin !== null) latestTurn.begin = () => refuse(socket, refusal, edge);
    else latestTurn.response.once("close", () => refuse(socket, refusal, edge));
  };
  server.on("connect", (raw, stream) => {
    const socket = stream as Socket;
    // Node no longer handles errors of this socket, and an error without a listener would end the process.
    socket.on("error", () => socket.destroy());
    const allowedMethodsOfPath = allowed(raw.url ?? "");
    const refusal = noSuchEndpoint(allowedMethodsOfPath.length === 0 ? EVERY_METHOD : allowedMethodsOfPath);
    if (turns.isIdle(socket)) refuse(socket, refusal, edge);
    else turns.latest(socket)?.response.once("close", () => refuse(socket, refusal, edge));
  });
}

function refusalOf(error: ParserError, edge: Edge, allowed: AllowedMethods): GatewayError {
  const packet = error.rawPacket?.toString("latin1") ?? "";
  switch (error.code ?? "") {
    case HEAD_TOO_SLOW:
      return new GatewayError("REQUEST_TIMEOUT", {
        message: `The request's head was not complete within ${edge.limits.headersTimeoutMs} ms.`,
      });
    case "HPE_HEADER_OVERFLOW":
      return packet.slice(0, edge.limits.maxTargetBytes).includes("\n") || packet.length < edge.limits.maxTargetBytes
        ? headersTooLarge(edge.limits)
        : new GatewayError("URI_TOO_LONG", {
            message: `The request target is longer than ${edge.limits.maxTargetBytes} bytes.`,
          });
    case "HPE_INVALID_METHOD": {
      // Earlier requests may precede the faulty line in the same packet.
      const line = packet.slice(packet.lastIndexOf("\n", Math.max(0, (error.bytesParsed ?? 0) - 1)) + 1);
      const target = REQUEST_LINE.exec(line)?.[2];
      return target === undefined ? malformed() : noSuchEndpoint(allowed(target));
    }
    default:
      return malformed();
  }
}

function malformed(): GatewayError {
  return invalidRequest(null, "This is not well-formed HTTP/1.1.");
}

function refuse(socket: Socket, error: GatewayError, edge: Edge): void {
  if (!socket.writable) return;
  const requestId = newId("request");
  const reply = errorReply(error, { requestId, publicUrl: edge.publicUrl(), accept: undefined });
  const headers = {
    ...reply.headers,
    date: new Date(edge.nowMs()).toUTCString(),
    "content-length": String(Buffer.byteLength(reply.body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ""}\r\n${lines.join("")}\r\n${reply.body}`);
  linger(socket, edge.limits.lingerBytes, edge.limits.lingerMs);
  edge.watch?.unreadable(reply.code);
  edge.logger.info({ request_id: requestId, method: null, route: null, status: reply.status, code: reply.code, ms: 0 });
}
