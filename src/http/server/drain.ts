// Ends a server without losing an answer: first /readyz reports it to load balancers, then no new connections are accepted, then running
// requests finish [api.drain-finish].
import { setImmediate } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { hasClosed, isSilent, stopListening } from "./connections.ts";

export interface DrainOptions {
  /** How long new connections are still taken at least, while `/readyz` already answers 503 and replies close their connection. */
  readonly acceptMs: number;
  /**
   * How much longer, while a connection is open that was so at the beginning: each ends with the reply to its next request, and one that is
   * ended here instead may have that request under way.
   */
  readonly keptMs: number;
  /**
   * How long running requests may take after `acceptMs` before their connections are destroyed. That includes requests whose callers have
   * disconnected, because their answers are still to be stored under an idempotency key [api.drain-keyed-work].
   */
  readonly finishMs: number;
  readonly wait: (ms: number) => Promise<void>;
}

/** Who connected last may still be about to speak. */
const SILENT_MS = 1_000;
/** For a reply that began before the end did, and so could not say that its connection closes. Node adds a second. */
const KEPT_AFTER_REPLY_MS = 1;

/** Call once `draining()` answers true. Resolves when every connection is closed and all work has ended; tells whether by itself. */
export async function drain(app: FastifyInstance, options: DrainOptions): Promise<{ readonly clean: boolean }> {
  const { server, connections, underWay } = app;
  const { acceptMs, keptMs, finishMs, wait } = options;
  const kept = Promise.all([...connections].map(hasClosed));
  await wait(acceptMs);
  const late = wait(finishMs).then(() => false);
  if (keptMs > 0) await Promise.race([kept, wait(keptMs), late]);
  await emptyKernel();
  stopListening(server);
  server.keepAliveTimeout = KEPT_AFTER_REPLY_MS;
  if ([...connections].some(isSilent)) await Promise.race([wait(SILENT_MS), late]);
  await emptyKernel();
  const closed = app.close();
  const clean = await Promise.race([closed.then(() => underWay.done()).then(() => true), late]);
  server.closeAllConnections();
  await closed;
  return { clean };
}

/** A busy process comes here before it has seen what reached it: whoever is in the queue is taken, and what has arrived is read. */
async function emptyKernel(): Promise<void> {
  // Of this turn of the loop the look at the sockets may be over; the next one takes connections, the one after it reads from them.
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
}
