// Detects connections to a server that stopped answering in the middle of a statement, for which TCP would take a quarter of an hour
// [storage.broken-connection]. A second connection distinguishes a slow statement from a lost one.
import type { Socket } from "node:net";
import { Client, type ClientBase } from "pg";

/** A running statement without a received byte for so long is checked. */
const SILENT_MS = 4_000;
const LOOK_MS = 3_000;

/** Members that the driver's types omit. */
interface ClientInternals {
  readonly readyForQuery: boolean;
  readonly processID: number | null;
  readonly connection: { readonly stream: Socket };
}

class SilentConnection extends Error {
  override readonly name = "SilentConnection";
  readonly code = "ETIMEDOUT";
}

export interface SilenceTimes {
  readonly silentMs?: number;
  readonly lookMs?: number;
}

export interface WatchOptions extends SilenceTimes {
  /** Process ids behind a pooler are not the server's. Such a connection is closed only if the server does not answer at all. */
  readonly isPooled?: boolean;
}

/** Returns a function to call with each new connection of a pool. */
export function watchStatements(
  connectionString: string,
  { silentMs = SILENT_MS, lookMs = LOOK_MS, isPooled = false }: WatchOptions = {},
): (client: ClientBase) => void {
  let check: Promise<ReadonlyMap<number, boolean> | null> | null = null;
  const queryBackends = () => {
    check ??= statesOfBackends(connectionString, lookMs).finally(() => {
      check = null;
    });
    return check;
  };
  return (client) => {
    const internals = client as unknown as ClientInternals;
    const { stream } = internals.connection;
    const checkSilence = async (): Promise<void> => {
      if (internals.readyForQuery) return;
      const { bytesRead } = stream;
      const backends = await queryBackends();
      if (stream.destroyed || internals.readyForQuery || stream.bytesRead !== bytesRead) return;
      const isActive = isPooled ? undefined : backends?.get(internals.processID ?? 0);
      const isWorking = isActive ?? backends !== null;
      if (isWorking) stream.setTimeout(silentMs);
      else stream.destroy(new SilentConnection("the database does not answer on this connection"));
    };
    stream.setTimeout(silentMs);
    stream.on("timeout", () => void checkSilence());
  };
}

/** Whether each backend runs a statement, by process id. Null: the server does not answer. */
async function statesOfBackends(
  connectionString: string,
  lookMs: number,
): Promise<ReadonlyMap<number, boolean> | null> {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: lookMs,
    query_timeout: lookMs,
    application_name: "patchbay-silence",
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number; working: boolean | null }>(
      "select pid, state = 'active' as working from pg_stat_activity",
    );
    return new Map(rows.map(({ pid, working }) => [pid, working === true]));
  } catch {
    return null;
  } finally {
    // Not awaited, because closing a dead connection takes as long as the timeout.
    void client.end().catch(() => undefined);
  }
}
