// Connections whose other end fell silent in the middle of a statement [storage.broken-connection]: TCP gives up on them after a quarter of
// an hour, and a request must not wait for that. Asking again distinguishes a slow statement from one whose answer never comes.
import type { Socket } from "node:net";
import { Client, type ClientBase } from "pg";

/** So long without a byte, in a statement, is looked into. */
const SILENT_MS = 4_000;
const LOOK_MS = 3_000;

/** What the driver's types leave out. */
interface Insides {
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
  /** Through a pooler, whose process ids are not the server's: such a connection is given up only when nobody answers at all. */
  readonly isPooled?: boolean;
}

/** For each connection of a pool, once it is made. */
export function watchStatements(
  connectionString: string,
  { silentMs = SILENT_MS, lookMs = LOOK_MS, isPooled = false }: WatchOptions = {},
): (client: ClientBase) => void {
  let looking: Promise<ReadonlyMap<number, boolean> | null> | null = null;
  const look = () => {
    looking ??= statesOfBackends(connectionString, lookMs).finally(() => {
      looking = null;
    });
    return looking;
  };
  return (client) => {
    const insides = client as unknown as Insides;
    const { stream } = insides.connection;
    const judge = async (): Promise<void> => {
      if (insides.readyForQuery) return;
      const { bytesRead } = stream;
      const backends = await look();
      if (stream.destroyed || insides.readyForQuery || stream.bytesRead !== bytesRead) return;
      const known = isPooled ? undefined : backends?.get(insides.processID ?? 0);
      const isWorking = known ?? backends !== null;
      if (isWorking) stream.setTimeout(silentMs);
      else stream.destroy(new SilentConnection("the database does not answer on this connection"));
    };
    stream.setTimeout(silentMs);
    stream.on("timeout", () => void judge());
  };
}

/** By process id, whether it works on a statement; null: the server does not answer. */
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
    // Not waited for: on a connection that is silent too it would take as long.
    void client.end().catch(() => undefined);
  }
}
