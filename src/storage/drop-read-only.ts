// Drops the connections of a pool whose server turned out to be read-only (a standby, or a primary that was demoted), so that the next ones
// reach the new primary behind the same address.
import type { ClientBase, Pool } from "pg";
import { isReadOnlyServer } from "./database-faults.ts";

/** What the driver's types leave out. */
interface Insides {
  query: (...given: unknown[]) => unknown;
  end(): Promise<void>;
}

/** The answer is for each connection of the pool, once it is made. */
export function dropReadOnly(pool: Pick<Pool, "on">): (client: ClientBase) => void {
  const open = new Set<ClientBase>();
  const inUse = new Set<ClientBase>();
  const stale = new WeakSet<ClientBase>();
  pool.on("acquire", (client) => void inUse.add(client));
  pool.on("release", (_error, client) => {
    inUse.delete(client);
    // One that is ending is not handed out again.
    if (stale.has(client)) void insidesOf(client).end();
  });

  /** All of them: they lead to the same server. One in use is dropped when it is released, so that its transaction fails by its own error. */
  const dropAll = (): void => {
    for (const client of open) {
      stale.add(client);
      // The pool listens to its idle connections, and removes one that fails.
      if (!inUse.has(client)) client.emit("error", new Error("the server of this connection is read-only"));
    }
  };
  return (client) => {
    open.add(client);
    // Until the pool hands it out.
    inUse.add(client);
    client.once("end", () => {
      open.delete(client);
      inUse.delete(client);
    });
    const insides = insidesOf(client);
    const run = insides.query.bind(client);
    insides.query = (...given) => {
      const answer = run(...given);
      if (answer instanceof Promise)
        answer.catch((error: unknown) => {
          if (isReadOnlyServer(error)) dropAll();
        });
      return answer;
    };
  };
}

function insidesOf(client: ClientBase): Insides {
  return client as unknown as Insides;
}
