// Detects a pooler between this process and the PostgreSQL server, and requires a direct connection where sessions are not ours
// (docs/decisions/0032-transaction-poolers.md).
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Client } from "pg";
import { serverFault } from "./server-fault.ts";

/** `transaction`: each transaction may run on another session of the server. `session`: one session for as long as a connection lives. */
export type Pooling = "none" | "session" | "transaction";

export interface Reached {
  /** The role that the server knows us by. */
  readonly login: string;
  readonly pooling: Pooling;
  /** Where the address leads, without credentials: `host:port`. */
  readonly place: string;
}

/** Behind the server's name; nothing where there is no pooler. */
export function describePooling({ pooling, place }: Pick<Reached, "pooling" | "place">): string {
  if (pooling === "none") return "";
  return pooling === "session"
    ? `through a session pooler at ${place}`
    : `through a transaction pooler at ${place}, without named prepared statements`;
}

/** The addresses of the database do not give what a running gateway needs. */
export class PoolerRefused extends Error {
  override readonly name = "PoolerRefused";
  /** What to set, in one line. */
  readonly check: string;

  constructor(message: string, check: string) {
    super(message);
    this.check = check;
  }
}

const ANSWER_MS = 5_000;
/** Other processes' transactions may take the session that is looked for. */
const ROUNDS = 10;

/** Whoever cannot be reached is named (server-fault.ts). */
export async function reachServer(connectionString: string): Promise<Reached> {
  try {
    await using one = await connect(connectionString);
    const { pid, login } = await sessionOf(one.client);
    const place = `${one.client.host}:${one.client.port}`;
    // A server tells its process id as it lets us in. A pooler has none of its own and tells a random number.
    if (pid === one.keyPid) return { login, place, pooling: "none" };
    await using other = await connect(connectionString);
    return { login, place, pooling: (await sharesSessions(one.client, other.client)) ? "transaction" : "session" };
  } catch (error) {
    throw serverFault(error, connectionString);
  }
}

/** Whether two connections, both open, are served by one session of the server, or one of them by two. */
async function sharesSessions(one: Client, other: Client): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { pid: before } = await sessionOf(one);
    // A pooler gives the session that was left last, or the next one: either shows.
    await other.query("begin");
    const { pid: taken } = await sessionOf(other);
    const { pid: after } = taken === before ? { pid: before } : await sessionOf(one);
    await other.query("rollback");
    if (taken === before || after !== before) return true;
  }
  return false;
}

export interface Addresses {
  readonly databaseUrl: string;
  /** A direct connection for notifications and session locks; null: none was set. */
  readonly listenUrl: string | null;
}

/** What is heard over the direct connection, is what is said over the pooled one. Nothing to look at where there is neither. */
export async function requireListening(
  { pooling, place }: Pick<Reached, "pooling" | "place">,
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
  if (!(await hears(listenUrl, databaseUrl)))
    throw new PoolerRefused(
      `A notification sent over storage.database_url (${place}) did not arrive over storage.listen_url (${direct.place}).`,
      "set both to the same database of the same server, the primary",
    );
}

async function hears(listenUrl: string, databaseUrl: string): Promise<boolean> {
  await using ear = await connect(listenUrl);
  await using mouth = await connect(databaseUrl);
  const channel = `patchbay_probe_${randomUUID().replaceAll("-", "")}`;
  await ear.client.query(`listen ${channel}`);
  const heard = once(ear.client, "notification", { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    () => true,
    () => false,
  );
  await mouth.client.query("select pg_notify($1, '')", [channel]);
  // Awaited here: the connections are closed as this function returns.
  return await heard;
}

interface Connected extends AsyncDisposable {
  readonly client: Client;
  /** The process id that cancels what this connection runs. */
  readonly keyPid: number | null;
}

async function connect(connectionString: string): Promise<Connected> {
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
  if (row === undefined) throw new Error("the server did not tell its process id");
  return row;
}
