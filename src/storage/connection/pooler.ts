// Detects a pooler between this process and the PostgreSQL server, and requires a direct connection for notifications and session locks if there
// is one (docs/decisions/0032-transaction-poolers.md).
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Client } from "pg";
import { serverFault } from "./server-fault.ts";

/** `transaction`: each transaction may run in another session of the server. `session`: a connection keeps its session. */
export type Pooling = "none" | "session" | "transaction";

export interface ServerReached {
  /** The role of this process on the server. */
  readonly login: string;
  readonly pooling: Pooling;
  /** The address as `host:port`, without credentials. */
  readonly place: string;
}

/** A text for after the server's name. Empty without a pooler. */
export function describePooling({ pooling, place }: Pick<ServerReached, "pooling" | "place">): string {
  if (pooling === "none") return "";
  return pooling === "session"
    ? `through a session pooler at ${place}`
    : `through a transaction pooler at ${place}, without named prepared statements`;
}

/** The configured database URLs do not provide what a running gateway needs. */
export class PoolerRefused extends Error {
  override readonly name = "PoolerRefused";
  /** The fix, in one line. */
  readonly check: string;

  constructor(message: string, check: string) {
    super(message);
    this.check = check;
  }
}

const ANSWER_MS = 5_000;
/** Several, because other processes' transactions may use the session that the test looks for. */
const ROUNDS = 10;

/** An error names the server that cannot be reached (server-fault.ts). */
export async function reachServer(connectionString: string): Promise<ServerReached> {
  try {
    await using one = await connect(connectionString);
    const { pid, login } = await sessionOf(one.client);
    const place = `${one.client.host}:${one.client.port}`;
    // A server sends its process id when a connection is made. A pooler has none and sends a random number.
    if (pid === one.keyPid) return { login, place, pooling: "none" };
    await using other = await connect(connectionString);
    return { login, place, pooling: (await sharesSessions(one.client, other.client)) ? "transaction" : "session" };
  } catch (error) {
    throw serverFault(error, connectionString);
  }
}

/** Whether two open connections share one session of the server, or one of them uses two. */
async function sharesSessions(one: Client, other: Client): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { pid: before } = await sessionOf(one);
    // A pooler assigns the most recently released session, or the next one. Either is detected.
    await other.query("begin");
    const { pid: otherPid } = await sessionOf(other);
    const { pid: after } = otherPid === before ? { pid: before } : await sessionOf(one);
    await other.query("rollback");
    if (otherPid === before || after !== before) return true;
  }
  return false;
}

export interface Addresses {
  readonly databaseUrl: string;
  /** A direct connection for notifications and session locks. Null: not set. */
  readonly listenUrl: string | null;
}

/** Requires that notifications sent over the pooled connection arrive over the direct one. Nothing to check without pooler and listen URL. */
export async function requireListening(
  { pooling, place }: Pick<ServerReached, "pooling" | "place">,
  { databaseUrl, listenUrl }: Addresses,
) {
  if (listenUrl === null) {
    if (pooling !== "transaction") return;
    throw new PoolerRefused(
      `storage.database_url leads to a transaction pooler (PgBouncer or another) at ${place}. Notifications and session locks do not work through it.`,
      "set storage.listen_url to the address of the PostgreSQL server itself, for the same database; storage.database_url stays as it is",
    );
  }
  const direct = await reachServer(listenUrl);
  if (direct.pooling === "transaction")
    throw new PoolerRefused(
      `storage.listen_url leads to a transaction pooler at ${direct.place}.`,
      "set it to the address of the PostgreSQL server itself",
    );
  if (!(await receivesNotifications(listenUrl, databaseUrl)))
    throw new PoolerRefused(
      `A notification sent over storage.database_url (${place}) did not arrive over storage.listen_url (${direct.place}).`,
      "set both to the same database of the same server, the primary",
    );
}

async function receivesNotifications(listenUrl: string, databaseUrl: string): Promise<boolean> {
  await using receiver = await connect(listenUrl);
  await using sender = await connect(databaseUrl);
  const channel = `patchbay_probe_${randomUUID().replaceAll("-", "")}`;
  await receiver.client.query(`listen ${channel}`);
  const hasArrived = once(receiver.client, "notification", { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    () => true,
    () => false,
  );
  await sender.client.query("select pg_notify($1, '')", [channel]);
  // Awaited here, because the connections are closed when this function returns.
  return await hasArrived;
}

interface ProbeConnection extends AsyncDisposable {
  readonly client: Client;
  /** The backend process id for cancel requests. */
  readonly keyPid: number | null;
}

async function connect(connectionString: string): Promise<ProbeConnection> {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    application_name: "patchbay-probe",
  });
  client.on("error", () => undefined);
  const close = async () => client.end().catch(() => undefined);
  try {
    await client.connect();
  } catch (error) {
    await close();
    throw error;
  }
  const { processID: keyPid } = client as unknown as { readonly processID: number | null };
  return { client, keyPid, [Symbol.asyncDispose]: close };
}

async function sessionOf(client: Client): Promise<{ readonly pid: number; readonly login: string }> {
  const { rows } = await client.query<{ pid: number; login: string }>(
    "select pg_backend_pid() as pid, current_user as login",
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the server did not report its process id");
  return row;
}
