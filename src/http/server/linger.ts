// Closes a connection after its request was answered before the body was read (lingering close): the reply must reach a client that is still writing, and
// the client must not have to send 25 MB in vain [api.refusal-arrives].
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { EdgeLimits } from "./limits.ts";

/** Whether part of the announced body has not arrived yet. */
export function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);
}

/** Call before the reply is sent. The reply itself must have `Connection: close`. */
export function lingerAfterReply(
  raw: IncomingMessage,
  response: ServerResponse,
  socket: Socket,
  limits: EdgeLimits,
): void {
  const declaredBytes = Number(raw.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  const discardBytes = declaredBytes <= limits.lingerBytes ? limits.lingerBytes : 0;
  if (discardBytes === 0) socket.pause();
  // Otherwise a reader that waits for the remaining body would wait for ever.
  socket.once("close", () => raw.destroy(new Error("the connection was closed before the body was complete")));
  // Node calls this once the reply is flushed. Its own version closes at once, and unread input then makes the kernel send a reset that can overtake
  // the reply.
  socket.destroySoon = () => linger(socket, discardBytes, limits.lingerMs);
  response.shouldKeepAlive = false;
}

/** Half-closes, discards up to `discardBytes` of further input, and destroys the socket when the client closes or the time is up. */
export function linger(socket: Socket, discardBytes: number, lingerMs: number): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  let remainingBytes = discardBytes;
  throwAwayInput(socket, (chunk) => {
    remainingBytes -= chunk.length;
    if (remainingBytes <= 0) socket.pause();
  });
  socket.once("end", () => socket.destroy());
  // A client that has already closed its side sends no further "end".
  socket.end(() => socket.readableEnded && socket.destroy());
  if (remainingBytes > 0) socket.resume();
  else socket.pause();
}

/** Removing its data listener hides all further input from Node's parser, so that no other request can start. */
export function throwAwayInput(socket: Socket, onChunk: (chunk: Buffer) => void = () => undefined): void {
  socket.removeAllListeners("data");
  socket.on("data", onChunk);
}
