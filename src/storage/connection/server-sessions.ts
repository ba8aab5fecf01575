// Configures sessions on a PostgreSQL server, for Patchbay's and the queue's connections, direct or through a pooler.
import type { ClientBase, PoolConfig } from "pg";
import type { Pooling } from "./pooler.ts";
import { type SilenceTimes, watchStatements } from "./statement-watchdog.ts";

/**
 * Transactions never wait for anything but their own statements. An idle one belongs to a process that was stopped or cut off, and its locks would
 * block others. Just-in-time compilation (`jit`) would turn statements of milliseconds into a second.
 */
const SETTINGS = { idle_in_transaction_session_timeout: "5000", jit: "off" };

const statements = (scope: "session" | "local"): string =>
  Object.entries(SETTINGS)
    .map(([name, value]) => `set ${scope} ${name} = ${value}`)
    .join("; ");

/** Run once on a connection with its own session. */
export const SESSION_SETTINGS = statements("session");
/** Run in each transaction through a transaction pooler, where session settings would affect other clients. */
export const TRANSACTION_SETTINGS = statements("local");

export interface ServerAddress {
  readonly url: string;
  readonly pooling: Pooling;
}

/** Configuration of a connection pool. */
export function sessionConfig({ url, pooling }: ServerAddress, silence?: SilenceTimes): PoolConfig {
  const watch = watchStatements(url, { ...silence, isPooled: pooling !== "none" });
  return {
    connectionString: url,
    // Detects a dead connection while it is idle, instead of in the next statement.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: (client) => {
      watch(client);
      return setUpSession(client, pooling);
    },
  };
}

/** The pool awaits the result, although its types do not declare that. */
function setUpSession(client: ClientBase, pooling: Pooling): unknown {
  return pooling === "transaction" ? undefined : client.query(SESSION_SETTINGS);
}
