// Listens to one channel of a PostgreSQL server through a connection of its own, which comes back when it breaks.
import { setTimeout as wait } from "node:timers/promises";
import { Client, escapeIdentifier } from "pg";
import { SESSION_SETTINGS } from "./server-sessions.ts";

export interface ServerListener {
  /** Straight to the server: a transaction pooler loses notifications in silence. */
  readonly listenUrl: string;
  readonly channel: string;
  readonly applicationName: string;
  readonly heard: (payload: string) => void;
  /** Some may have been missed: the connection is back after a break. */
  readonly missed: () => void;
  /** The connection broke or could not be made; it is tried again, and nothing more is told until it stood. */
  readonly onError: (error: unknown) => void;
  /** On each connection, before it counts as made. */
  readonly onConnect?: (client: Client) => Promise<void>;
}

const RETRY_MS = 500;
const CONNECT_MS = 5_000;
/** A connection that a firewall forgot says nothing: it is asked so often whether it still answers. */
const PROBE_MS = 10_000;

/** Listens when it resolves, unless the server is away at this moment. */
export async function listenOnServer(options: ServerListener): Promise<{ close(): Promise<void> }> {
  const { onError } = options;
  const closing = new AbortController();
  const first = Promise.withResolvers<void>();
  let isTold = false;
  const connected = (): void => {
    isTold = false;
    first.resolve();
  };
  const listening = (async () => {
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      await listenOnce(options, { isFirst: tries === 0, connected, closing: closing.signal }).catch(
        (error: unknown) => {
          if (!isTold) onError(error);
          isTold = true;
        },
      );
      first.resolve();
      await waited(RETRY_MS, closing.signal);
    }
  })();
  await first.promise;
  return {
    close: async () => {
      closing.abort();
      await listening;
    },
  };
}

interface Turn {
  readonly isFirst: boolean;
  readonly connected: () => void;
  readonly closing: AbortSignal;
}

/** Resolves when the connection has ended. */
async function listenOnce(
  { listenUrl, channel, applicationName, heard, missed, onConnect }: ServerListener,
  { isFirst, connected, closing }: Turn,
): Promise<void> {
  const client = new Client({
    connectionString: listenUrl,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
    keepAlive: true,
    application_name: applicationName,
  });
  const over = new AbortController();
  client.on("notification", ({ payload = "" }) => heard(payload));
  client.on("error", (error) => over.abort(error));
  client.on("end", () => over.abort(new Error("the listening connection ended")));
  try {
    await client.connect();
    await client.query(SESSION_SETTINGS);
    await client.query(`listen ${escapeIdentifier(channel)}`);
    await onConnect?.(client);
    connected();
    // Nobody has remembered anything before the first time.
    if (!isFirst) missed();
    const signal = AbortSignal.any([closing, over.signal]);
    while (await waited(PROBE_MS, signal)) await client.query("select 1");
    if (!closing.aborted) throw over.signal.reason;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** False when the signal came first. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}
