// Listens to one channel of a PostgreSQL server through a dedicated connection, which reconnects when it breaks.
import { setTimeout as wait } from "node:timers/promises";
import { Client, escapeIdentifier } from "pg";
import { SESSION_SETTINGS } from "./server-sessions.ts";

export interface ServerListener {
  /** A direct connection to the server, because a transaction pooler silently loses notifications. */
  readonly listenUrl: string;
  readonly channel: string;
  readonly applicationName: string;
  readonly heard: (payload: string) => void;
  /** Notifications may have been missed, because the connection was interrupted. */
  readonly missed: () => void;
  /** The connection failed and is retried. Further failures are not reported until it has succeeded. */
  readonly onError: (error: unknown) => void;
  /** Called with each new connection before notifications are expected from it. */
  readonly onConnect?: (client: Client) => Promise<void>;
}

const RETRY_MS = 500;
const CONNECT_MS = 5_000;
/** Interval of a test query. A connection that a firewall dropped reports no error. */
const PROBE_MS = 10_000;

/** Resolves when it is listening, or after the first attempt if the server is unavailable. */
export async function listenOnServer(options: ServerListener): Promise<{ close(): Promise<void> }> {
  const { onError } = options;
  const closing = new AbortController();
  const first = Promise.withResolvers<void>();
  let isReported = false;
  const markConnected = (): void => {
    isReported = false;
    first.resolve();
  };
  const loop = (async () => {
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      await listenOnce(options, { isFirst: tries === 0, markConnected, closing: closing.signal }).catch(
        (error: unknown) => {
          if (!isReported) onError(error);
          isReported = true;
        },
      );
      first.resolve();
      await waitUnlessAborted(RETRY_MS, closing.signal);
    }
  })();
  await first.promise;
  return {
    close: async () => {
      closing.abort();
      await loop;
    },
  };
}

interface ListenAttempt {
  readonly isFirst: boolean;
  readonly markConnected: () => void;
  readonly closing: AbortSignal;
}

/** Resolves or rejects when the connection has ended. */
async function listenOnce(
  { listenUrl, channel, applicationName, heard, missed, onConnect }: ServerListener,
  { isFirst, markConnected, closing }: ListenAttempt,
): Promise<void> {
  const client = new Client({
    connectionString: listenUrl,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
    keepAlive: true,
    application_name: applicationName,
  });
  const connectionEnd = new AbortController();
  client.on("notification", ({ payload = "" }) => heard(payload));
  client.on("error", (error) => connectionEnd.abort(error));
  client.on("end", () => connectionEnd.abort(new Error("the listening connection ended")));
  try {
    await client.connect();
    await client.query(SESSION_SETTINGS);
    await client.query(`listen ${escapeIdentifier(channel)}`);
    await onConnect?.(client);
    markConnected();
    // Before the first connection nothing can have been missed.
    if (!isFirst) missed();
    const signal = AbortSignal.any([closing, connectionEnd.signal]);
    while (await waitUnlessAborted(PROBE_MS, signal)) await client.query("select 1");
    if (!closing.aborted) throw connectionEnd.signal.reason;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** False if the signal aborted first. */
async function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}
