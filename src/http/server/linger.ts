// Closes a connection whose request was answered before its body was read: the reply must reach a caller that is still writing, and the
// caller must not have to write 25 MB for nothing [api.refusal-arrives].
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { EdgeLimits } from "./limits.ts";

/** Whether part of the announced body has not arrived yet. Injected requests have no connection, and no such mark. */
export function hasUnreadBody(raw: IncomingMessage): boolean {
  return !raw.complete && Object.hasOwn(raw, "complete") && announcesBody(raw);
}

function announcesBody(raw: IncomingMessage): boolean {
  return raw.headers["transfer-encoding"] !== undefined || Number(raw.headers["content-length"] ?? 0) > 0;
}

/** Call before the reply is sent; the reply itself must say `Connection: close`. */
export function lingerAfterReply(
  raw: IncomingMessage,
  response: ServerResponse,
  socket: Socket,
  limits: EdgeLimits,
): void {
  const declared = Number(raw.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  const discardBytes = declared <= limits.lingerBytes ? limits.lingerBytes : 0;
  if (discardBytes === 0) socket.pause();
  // A reader that waits for the rest of this body must not wait for ever.
  socket.once("close", () => raw.destroy(new Error("the connection was closed before the body was complete")));
  // Node calls this once the reply is flushed. Its own version closes at once, and unread input then makes the kernel
  // send a reset that can overtake the reply.
  socket.destroySoon = () => linger(socket, discardBytes, limits.lingerMs);
  response.shouldKeepAlive = false;
}

/** Half-closes, throws away up to `discardBytes` of what still comes, and destroys when the caller closes or time is up. */
export function linger(socket: Socket, discardBytes: number, lingerMs: number): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  let left = discardBytes;
  throwAwayInput(socket, (chunk) => {
    left -= chunk.length;
    if (left <= 0) socket.pause();
  });
  socket.once("end", () => socket.destroy());
  // A caller that has already closed its side sends no further "end".
  socket.end(() => socket.readableEnded && socket.destroy());
  if (left > 0) socket.resume();
  else socket.pause();
}

/** Without its own data listener Node's parser sees no more input, so nothing that follows can start another request. */
export function throwAwayInput(socket: Socket, onChunk: (chunk: Buffer) => void = () => undefined): void {
  socket.removeAllListeners("data");
  socket.on("data", onChunk);
}
