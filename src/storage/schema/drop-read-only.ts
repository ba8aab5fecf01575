// Drops the connections of a pool to a read-only server (a standby, or a primary that was demoted), so that new connections reach the new
// primary behind the same address.
import type { ClientBase, Pool } from "pg";
import { isReadOnlyServer } from "../database-faults.ts";

/** Members that the driver's types omit. */
interface ClientInternals {
  query: (...args: unknown[]) => unknown;
  end(): Promise<void>;
}

/** Returns a function to call with each new connection of the pool. */
export function dropReadOnly(pool: Pick<Pool, "on">): (client: ClientBase) => void {
  const open = new Set<ClientBase>();
  const inUse = new Set<ClientBase>();
  const stale = new WeakSet<ClientBase>();
  pool.on("acquire", (client) => void inUse.add(client));
  pool.on("release", (_error, client) => {
    inUse.delete(client);
    // The pool does not reuse a connection that is ending.
    if (stale.has(client)) void internalsOf(client).end();
  });

  /** Drops all, because they lead to the same server. One in use is dropped on release, so that its transaction fails with its own error. */
  const dropAll = (): void => {
    for (const client of open) {
      stale.add(client);
      // The pool listens for errors of idle connections and removes those that fail.
      if (!inUse.has(client)) client.emit("error", new Error("the server of this connection is read-only"));
    }
  };
  return (client) => {
    open.add(client);
    // A new connection counts as in use until the pool hands it out.
    inUse.add(client);
    client.once("end", () => {
      open.delete(client);
      inUse.delete(client);
    });
    const internals = internalsOf(client);
    const query = internals.query.bind(client);
    internals.query = (...args) => {
      const answer = query(...args);
      if (answer instanceof Promise)
        answer.catch((error: unknown) => {
          if (isReadOnlyServer(error)) dropAll();
        });
      return answer;
    };
  };
}

function internalsOf(client: ClientBase): ClientInternals {
  return client as unknown as ClientInternals;
}
