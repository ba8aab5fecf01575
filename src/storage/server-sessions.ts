// How connections to a PostgreSQL server are set up: ours and the queue's, straight to the server or through a pooler.
import type { ClientBase, PoolConfig } from "pg";
import type { Pooling } from "./pooler.ts";
import { type SilenceTimes, watchStatements } from "./statement-watchdog.ts";

/**
 * No transaction waits for anything but its own statements: one that does belongs to a process that was stopped or cut off, and its locks
 * would hold up all the others. Each of our statements takes milliseconds, which compiling it (`jit`) would make a second.
 */
const SETTINGS = { idle_in_transaction_session_timeout: "5000", jit: "off" };

const statements = (scope: "session" | "local"): string =>
  Object.entries(SETTINGS)
    .map(([name, value]) => `set ${scope} ${name} = ${value}`)
    .join("; ");

/** Once, on a connection whose session is its own. */
export const SESSION_SETTINGS = statements("session");
/** In each transaction where it is not: what one sets would stay with a session that others get. */
export const TRANSACTION_SETTINGS = statements("local");

export interface ServerAddress {
  readonly url: string;
  readonly pooling: Pooling;
}

/** Of a pool. */
export function sessionConfig({ url, pooling }: ServerAddress, silence?: SilenceTimes): PoolConfig {
  const watch = watchStatements(url, { ...silence, isPooled: pooling !== "none" });
  return {
    connectionString: url,
    // A connection whose other end is gone without a word is found out while it idles, not by the next statement.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: (client) => {
      watch(client);
      return setUpSession(client, pooling);
    },
  };
}

/** The pool awaits what this returns, though its type does not say so. */
function setUpSession(client: ClientBase, pooling: Pooling): unknown {
  return pooling === "transaction" ? undefined : client.query(SESSION_SETTINGS);
}
