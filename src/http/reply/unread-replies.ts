// Disconnects callers that never read their reply, which would hold its memory and its connection. One that is read, however slowly,
// continues [api.unread-reply].
import type { Socket } from "node:net";
import type { EdgeLimits } from "../server/limits.ts";
import { waitingBytes } from "./unread-budget.ts";

interface Seen {
  /** Bytes that had left this process. */
  readonly sent: number;
  readonly sinceMs: number;
}

/** Looks at all of `connections` every so often, so that no request pays for it; the answer ends it. */
export function watchUnreadReplies(
  connections: ReadonlySet<Socket>,
  { unreadReplyMs, checkIntervalMs }: Pick<EdgeLimits, "unreadReplyMs" | "checkIntervalMs">,
): () => void {
  const stuck = new Map<Socket, Seen>();
  const look = (): void => {
    const nowMs = performance.now();
    for (const socket of connections) {
      const waiting = waitingBytes(socket);
      const sent = socket.bytesWritten - waiting;
      const before = stuck.get(socket);
      if (waiting === 0) stuck.delete(socket);
      else if (before === undefined || before.sent !== sent) stuck.set(socket, { sent, sinceMs: nowMs });
      else if (nowMs - before.sinceMs >= unreadReplyMs) socket.destroy();
    }
    for (const socket of stuck.keys()) if (!connections.has(socket)) stuck.delete(socket);
  };
  const timer = setInterval(look, checkIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
