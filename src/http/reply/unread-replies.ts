// Disconnects clients that have stopped reading their response, which keeps its memory and connection in use. Slow but steady readers stay connected
// [api.unread-reply].
import type { Socket } from "node:net";
import type { EdgeLimits } from "../server/limits.ts";
import { waitingBytes } from "./unread-budget.ts";

interface Seen {
  /** Bytes that had left this process. */
  readonly sent: number;
  readonly sinceMs: number;
}

/** Checks all `connections` periodically, so that requests have no extra cost. Returns a function that stops the checks. */
export function watchUnreadReplies(
  connections: ReadonlySet<Socket>,
  { unreadReplyMs, checkIntervalMs }: Pick<EdgeLimits, "unreadReplyMs" | "checkIntervalMs">,
): () => void {
  const stuck = new Map<Socket, Seen>();
  const checkConnections = (): void => {
    const nowMs = performance.now();
    for (const socket of connections) {
      const unsentBytes = waitingBytes(socket);
      const sent = socket.bytesWritten - unsentBytes;
      const previous = stuck.get(socket);
      if (unsentBytes === 0) stuck.delete(socket);
      else if (previous === undefined || previous.sent !== sent) stuck.set(socket, { sent, sinceMs: nowMs });
      else if (nowMs - previous.sinceMs >= unreadReplyMs) socket.destroy();
    }
    for (const socket of stuck.keys()) if (!connections.has(socket)) stuck.delete(socket);
  };
  const timer = setInterval(checkConnections, checkIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
