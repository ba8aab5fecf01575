// Drops the connections of a pool to a read-only server (a standby, or a primary that was demoted), so that new connections reach the new
// primary behind the same address.
import type { ClientBase, Pool } from "pg";
import { isReadOnlyServer } from "../database-faults.ts";

/** `opened` is called with each new connection of the pool, `failed` with the error of each statement. */
export interface ReadOnlyWatch {
  readonly opened: (client: ClientBase) => void;
  readonly failed: (error: unknown) => void;
}

export function dropReadOnly(pool: Pick<Pool, "on">): ReadOnlyWatch {
  const open = new Set<ClientBase>();
  const inUse = new Set<ClientBase>();
  const stale = new WeakSet<ClientBase>();
  pool.on("acquire", (client) => void inUse.add(client));
  pool.on("release", (_error, client) => {
    inUse.delete(client);
    // The pool does not reuse a connection that is ending.
    if (stale.has(client)) void endOf(client);
  });

  /** Drops all, because they lead to the same server. One in use is dropped on release, so that its transaction fails with its own error. */
  const dropAll = (): void => {
    for (const client of open) {
      stale.add(client);
      // The pool listens for errors of idle connections and removes those that fail.
      if (!inUse.has(client)) client.emit("error", new Error("the server of this connection is read-only"));
    }
  };
  return {
    opened: (client) => {
      open.add(client);
      // A new connection counts as in use until the pool hands it out.
      inUse.add(client);
      client.once("end", () => {
        open.delete(client);
        inUse.delete(client);
      });
    },
    failed: (error) => {
      if (isReadOnlyServer(error)) dropAll();
    },
  };
}

/** The driver's types of a pool's client omit it. */
function endOf(client: ClientBase): Promise<void> {
  return (client as unknown as { end(): Promise<void> }).end();
}
