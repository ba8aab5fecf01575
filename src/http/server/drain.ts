// Shuts down a server without losing a response: first /readyz reports 503 to load balancers, then no new connections are accepted, then running
// requests finish [api.drain-finish].
import { setImmediate } from "node:timers/promises";
import { hasClosed, isSilent, stopListening } from "./connections.ts";
import type { HttpServer } from "./server.ts";

export interface DrainOptions {
  /** Minimum time in which new connections are still accepted, while `/readyz` already responds 503 and replies close their connection. */
  readonly acceptMs: number;
  /**
   * Further time while a connection is open that was open at the beginning. Each closes with the reply to its next request; if closed here
   * instead, that request may already be on its way.
   */
  readonly keptMs: number;
  /**
   * How long running requests may take after `acceptMs` before their connections are destroyed. This includes requests with clients that have
   * disconnected, because their responses are still to be stored under an idempotency key [api.drain-keyed-work].
   */
  readonly finishMs: number;
  readonly wait: (ms: number) => Promise<void>;
}

/** A client that has just connected may be about to send its request. */
const SILENT_MS = 1_000;
/** For replies that started before the drain and so could not send `Connection: close`. Node adds a second. */
const KEPT_AFTER_REPLY_MS = 1;

/** Call once `draining()` returns true. Resolves when every connection is closed and all work has ended. `clean` is false if the time ran out. */
export async function drain(app: HttpServer, options: DrainOptions): Promise<{ readonly clean: boolean }> {
  const { server, connections, underWay } = app;
  const { acceptMs, keptMs, finishMs, wait } = options;
  const initialConnectionsClosed = Promise.all([...connections].map(hasClosed));
  await wait(acceptMs);
  const deadline = wait(finishMs).then(() => false);
  if (keptMs > 0) await Promise.race([initialConnectionsClosed, wait(keptMs), deadline]);
  await drainAcceptQueue();
  stopListening(server);
  server.keepAliveTimeout = KEPT_AFTER_REPLY_MS;
  if ([...connections].some(isSilent)) await Promise.race([wait(SILENT_MS), deadline]);
  await drainAcceptQueue();
  const closing = app.close();
  const clean = await Promise.race([closing.then(() => underWay.done()).then(() => true), deadline]);
  server.closeAllConnections();
  await closing;
  return { clean };
}

/** A busy process may reach this point before it has handled what the kernel holds. Accepts the queued connections and reads what has arrived. */
async function drainAcceptQueue(): Promise<void> {
  // The poll phase of this tick may be over; the next tick accepts connections, and the one after it reads from them.
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
}
