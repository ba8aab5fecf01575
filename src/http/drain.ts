// Ends a server without losing an answer: balancers are told first, then nothing new is taken, then what runs may finish.
import type { FastifyInstance } from "fastify";

export interface DrainOptions {
  /** How long new connections are still taken, while `/readyz` already answers 503 and replies close their connection. */
  readonly acceptMs: number;
  /** How long running requests may take after that before their connections are destroyed. */
  readonly finishMs: number;
  readonly wait: (ms: number) => Promise<void>;
}

/** Call once `draining()` answers true. Resolves when every connection is closed; tells whether all ended by themselves. */
export async function drain(app: FastifyInstance, options: DrainOptions): Promise<{ readonly clean: boolean }> {
  await options.wait(options.acceptMs);
  const closed = app.close();
  const inTime = closed.then(() => true);
  const late = options.wait(options.finishMs).then(() => false);
  const clean = await Promise.race([inTime, late]);
  app.server.closeAllConnections();
  await closed;
  return { clean };
}
