// Connection settings of the embedded server for processes on this machine: the owner's role on the Unix socket, as a URL for any client.
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { errorCode } from "../../lib/error-code.ts";
import { SUPERUSER } from "./initialize.ts";

/** The role that owns the schema. Not a superuser. */
export const OWNER_ROLE = "patchbay";
const DATABASE = "patchbay";
/** The file in the data directory that records where the server listens. */
export const ENDPOINT_FILE = "postgres-endpoint.json";

export interface Endpoint {
  /** The directory of a Unix socket, or a loopback address. */
  readonly host: string;
  readonly port: number;
}

export function superuserConfig({ host, port }: Endpoint, password: string): ClientConfig {
  // Overrides PGSSLMODE, which is meant for other servers.
  return {
    host,
    port,
    user: SUPERUSER,
    password,
    database: "postgres",
    ssl: false,
    application_name: "patchbay-setup",
  };
}

/** The host is in the query string, where every client accepts a directory too. */
export function connectionUrl({ host, port }: Endpoint, password: string): string {
  const url = new URL(`postgres://localhost/${DATABASE}`);
  url.username = OWNER_ROLE;
  url.password = password;
  url.searchParams.set("host", host);
  url.searchParams.set("port", String(port));
  // Overrides PGSSLMODE, which is meant for other servers.
  url.searchParams.set("sslmode", "disable");
  return url.href;
}

/** Creates the owner's role and database if they are missing. Runs at every start, because a start may have been killed between the two. */
export async function ensureDatabase(endpoint: Endpoint, password: string): Promise<void> {
  const client = new Client(superuserConfig(endpoint, password));
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ has_role: boolean; has_database: boolean }>(
      `select exists (select from pg_roles where rolname = $1) as has_role,
         exists (select from pg_database where datname = $2) as has_database`,
      [OWNER_ROLE, DATABASE],
    );
    const secret = client.escapeLiteral(password);
    if (rows[0]?.has_role !== true) await client.query(`create role ${OWNER_ROLE} login createrole password ${secret}`);
    if (rows[0]?.has_database !== true) await client.query(`create database ${DATABASE} owner ${OWNER_ROLE}`);
  } finally {
    await client.end();
  }
}

export async function writeEndpoint(dataDir: string, endpoint: Endpoint): Promise<void> {
  const path = join(dataDir, ENDPOINT_FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(endpoint)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Null: no server was ever started in this data directory. */
export async function readEndpoint(dataDir: string): Promise<Endpoint | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, ENDPOINT_FILE), "utf8")) as Endpoint;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}
